/**
 * Makes visible what a name or a message could hide behind: texts come from whoever runs a workflow. A sign that shows
 * nothing or turns the text around stands as its code, \u202e. Joiners and variations stay: scripts and emoji need them.
 */

const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u180e\u200b\u2060-\u2064\ufeff]/gu;
const HIDDEN_IN_LINES = new RegExp(`\\r?\\n|\\t|${HIDDEN.source}`, "gu");

/** A name or an id for people; "(no name)" for a blank one. */
export function visible(text: string): string {
  return text.trim() === "" ? "(no name)" : text.replace(HIDDEN, codeOf);
}

/** The same for a message, whose lines and tabs stay; a blank one stays blank. */
export function visibleMessage(text: string): string {
  return text.replace(HIDDEN_IN_LINES, (sign) => (/[\n\t]/.test(sign) ? sign : codeOf(sign)));
}

function codeOf(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
