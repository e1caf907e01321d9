// Light, dark, or as the system has it.

import { effect, signal } from "@preact/signals";
import { remember, remembered } from "./storage";

export const THEMES = ["auto", "light", "dark"] as const;
export type ThemeChoice = (typeof THEMES)[number];

export const theme = signal<ThemeChoice>(THEMES.find((each) => each === remembered("theme")) ?? "auto");

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.peek()) + 1) % THEMES.length];
  remember("theme", theme.peek());
}

effect(() => {
  const { dataset } = document.documentElement;
  if (theme.value === "auto") delete dataset.theme;
  else dataset.theme = theme.value;
});
