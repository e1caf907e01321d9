// Shows what went wrong in a part of the page, and leaves the rest as it is.

import { Component, type ComponentChildren } from "preact";
import { Button, State } from "../views/parts";

/** To be mounted anew for what is worth another try. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override componentDidCatch(error: Error): void {
    this.setState({ error });
    console.error(error);
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <State title="This part of the page has failed" alert>
        <p>It is a fault of the page. What is stored is not touched. The message helps whoever is to mend it:</p>
        <pre class="sh-message">{String(error)}</pre>
        <p>
          <Button onClick={() => this.setState({ error: null })}>Try again</Button>{" "}
          <a class="sh-link" href="#/">
            All executions
          </a>
        </p>
      </State>
    );
  }
}
