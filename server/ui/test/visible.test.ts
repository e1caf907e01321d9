import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visible, visibleMessage } from "../src/model/visible";

const NOTHING_TO_SEE = ["\0", "\x1b", "\x7f", "\x85", "\u00ad", "\u200b", "\u200e", "\u202e", "\u2028", "\u2066", "\ufeff", "\ud800"];

describe("what hides in a text", () => {
  it.each(NOTHING_TO_SEE)("is shown as its code (%j)", (sign) => {
    const code = `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
    expect(visible(`a${sign}b`)).toBe(`a${code}b`);
    expect(visibleMessage(`a${sign}b`)).toBe(`a${code}b`);
  });

  it("stays out of what people write in their own scripts", () => {
    for (const text of ["train_model", "训练", "می\u200cخواهم", "क\u094d\u200dष", "👩\u200d👧", "❤\ufe0f", "😀"]) {
      expect(visible(text)).toBe(text);
      expect(visibleMessage(text)).toBe(text);
    }
  });

  it("leaves the lines of a message, and shows a return without a line", () => {
    expect(visibleMessage("a\r\n\tb\nc\rd")).toBe("a\r\n\tb\nc\\u000dd");
    expect(visible("a\nb")).toBe("a\\u000ab");
  });

  it("is told of a name that has none", () => {
    expect(visible("")).toBe("(no name)");
    expect(visible(" \t")).toBe("(no name)");
    expect(visibleMessage("")).toBe("");
  });

  it("never leaves anything in a name that would turn the text around", () => {
    const sign = fc.oneof(fc.constantFrom(...NOTHING_TO_SEE), fc.string({ unit: "binary", minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(fc.array(sign), (signs) => {
        const shown = visible(signs.join(""));
        expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        expect(visible(shown)).toBe(shown);
        expect(shown.trim()).not.toBe("");
      }),
    );
  });
});
