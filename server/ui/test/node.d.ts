/** The little of Node that tests use, without the types of all of it. */
declare module "node:fs" {
  export function readFileSync(path: URL): Uint8Array;
  export function readFileSync(path: URL, encoding: "utf-8"): string;
}
