// Shows what went wrong in a part of the page, and leaves the rest as it is.

import { Component, type ComponentChildren } from "preact";

interface Props {
  /** What is tried again when it changes. */
  of: string;
  children: ComponentChildren;
}

interface State {
  error: Error | null;
  of: string;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, of: this.props.of };

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.of === state.of ? null : { error: null, of: props.of };
  }

  override componentDidCatch(error: unknown): void {
    this.setState({ error: error instanceof Error ? error : new Error(String(error)) });
    console.error(error);
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div class="sh-state" role="alert">
        <h2>This part of the page has failed</h2>
        <p>It is a fault of the page. What is stored is not touched. The message helps whoever is to mend it:</p>
        <pre class="sh-message">{`${error.name}: ${error.message}`}</pre>
        <p>
          <button type="button" class="sh-button" onClick={() => this.setState({ error: null })}>
            Try again
          </button>{" "}
          <a class="sh-link" href="#/">
            All executions
          </a>
        </p>
      </div>
    );
  }
}
