import { render } from "preact";

render(<p>spanwise</p>, document.getElementById("app")!);
