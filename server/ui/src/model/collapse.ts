/**
 * What is open and what is shut: a ground state and the spans that differ from it, by span id, so
 * that it holds while an execution goes on and its spans get other numbers. Values never change.
 */

import { spanIdHex } from "../data/columns";
import type { RowTree } from "./rows";

/** What holds for all that the reader did not touch. */
export type Ground = "default" | "open" | "shut";

const GROUND_SIGNS: Record<Ground, string> = { default: "", open: "*", shut: "!" };
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
/** Digits of an id in an address: 64 bits in digits of 6 bits. */
const ID_LENGTH = 11;

export class Collapse {
  /**
   * @param differing ids of the spans that differ from the ground, as 16 hexadecimal digits
   */
  constructor(
    readonly ground: Ground = "default",
    readonly differing: ReadonlySet<string> = new Set(),
  ) {}

  /** 1 for every item that shows what it contains. By item; a new array. */
  openItems(tree: RowTree): Uint8Array {
    const open =
      this.ground === "default"
        ? tree.openByDefault.slice()
        : new Uint8Array(tree.count).fill(this.ground === "open" ? 1 : 0);
    if (this.differing.size === 0) return open;
    for (let item = 0; item < tree.count; item++) {
      if (tree.hasChildren[item] && this.differs(tree, item)) open[item] ^= 1;
    }
    return open;
  }

  isOpen(tree: RowTree, item: number): boolean {
    return this.isOpenOnGround(tree, item) !== this.differs(tree, item);
  }

  /** Opens or shuts items; those that contain nothing stay as they are. */
  set(tree: RowTree, items: Iterable<number>, open: boolean): Collapse {
    const differing = new Set(this.differing);
    for (const item of items) {
      if (!tree.hasChildren[item]) continue;
      const id = spanIdHex(tree.spans, tree.span[item]);
      if (this.isOpenOnGround(tree, item) === open) differing.delete(id);
      else differing.add(id);
    }
    return new Collapse(this.ground, differing);
  }

  toggle(tree: RowTree, item: number): Collapse {
    return this.set(tree, [item], !this.isOpen(tree, item));
  }

  /** Opens all that contains a span, so that its row is shown. The row itself stays as it is. */
  expandTo(tree: RowTree, span: number): Collapse {
    const above: number[] = [];
    for (let item = tree.parent[tree.itemOfSpan[span]]; item >= 0; item = tree.parent[item]) {
      if (!this.isOpen(tree, item)) above.push(item);
    }
    return above.length === 0 ? this : this.set(tree, above, true);
  }

  /** Text for an address: the sign of the ground and 11 characters for each span that differs. */
  encode(): string {
    return GROUND_SIGNS[this.ground] + Array.from(this.differing, packId).sort().join("");
  }

  /** Reads what `encode` wrote. What it cannot read is left out. */
  static decode(text: string): Collapse {
    const ground = text.startsWith("*") ? "open" : text.startsWith("!") ? "shut" : "default";
    const differing = new Set<string>();
    for (let at = GROUND_SIGNS[ground].length; at + ID_LENGTH <= text.length; at += ID_LENGTH) {
      const id = unpackId(text.slice(at, at + ID_LENGTH));
      if (id !== null) differing.add(id);
    }
    return new Collapse(ground, differing);
  }

  private isOpenOnGround(tree: RowTree, item: number): boolean {
    return this.ground === "default" ? tree.openByDefault[item] === 1 : this.ground === "open";
  }

  private differs(tree: RowTree, item: number): boolean {
    return this.differing.size > 0 && this.differing.has(spanIdHex(tree.spans, tree.span[item]));
  }
}

/** 16 hexadecimal digits as 11 of 6 bits each. */
function packId(id: string): string {
  let rest = BigInt(`0x${id}`);
  let text = "";
  for (let i = 0; i < ID_LENGTH; i++) {
    text = DIGITS[Number(rest & 63n)] + text;
    rest >>= 6n;
  }
  return text;
}

/** The reverse; null for what is no id. */
function unpackId(text: string): string | null {
  let id = 0n;
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    if (digit < 0) return null;
    id = (id << 6n) | BigInt(digit);
  }
  return id >> 64n ? null : id.toString(16).padStart(16, "0");
}
