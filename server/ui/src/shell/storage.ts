// What the browser remembers for this page. It may refuse to: then nothing is remembered, and nothing breaks.

export function remembered(name: string): string {
  try {
    return localStorage.getItem(`spanwise.${name}`) ?? "";
  } catch {
    return "";
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`spanwise.${name}`, value);
  } catch {
    // Storage is full or switched off.
  }
}
