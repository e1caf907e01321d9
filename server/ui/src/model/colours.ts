/**
 * The colours of the timeline, as data, so that contrast and difference are tested. Groups are told
 * apart by colour and pattern, phases by glyph and text.
 */

import type { GroupName } from "./words";

export type Theme = "light" | "dark";

export interface Palette {
  background: string;
  text: string;
  /** Text that matters less. */
  muted: string;
  groups: Record<GroupName, string>;
  /** Mark and outline of what failed. */
  failure: string;
  /** Groups that are hatched, so that they do not rest on their colour. */
  hatched: readonly GroupName[];
}

export const PALETTES: Record<Theme, Palette> = {
  light: {
    background: "#FFFFFF",
    text: "#1B1F24",
    muted: "#59616B",
    groups: {
      setup: "#0A88C5",
      runtime: "#05604C",
      teardown: "#531359",
      waiting: "#80868F",
      none: "#80868F",
    },
    failure: "#D95F02",
    hatched: ["waiting"],
  },
  dark: {
    background: "#14171C",
    text: "#E6E9ED",
    muted: "#9BA3AD",
    groups: {
      setup: "#4595FA",
      runtime: "#5FE3C4",
      teardown: "#964F7C",
      waiting: "#8B919A",
      none: "#8B919A",
    },
    failure: "#F09245",
    hatched: ["waiting"],
  },
};
