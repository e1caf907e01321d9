import { describe, expect, it } from "vitest";

import { PALETTES, type Theme } from "../src/model/colours";
import {
  KNOWN_PHASES,
  operationWords,
  phaseWords,
  plural,
  qualitiesOf,
  qualityWords,
  subtaskWords,
} from "../src/model/words";
import styles from "../src/styles/tokens.css?raw";
import { OPERATIONS, PHASES, QUALITIES } from "./synthetic";

type Triple = [number, number, number];

/** Linear light of a colour in sRGB. Source: IEC 61966-2-1. */
function linear(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

/** Source: WCAG 2.2, contrast ratio. */
function contrast(a: string, b: string): number {
  const [high, low] = [a, b]
    .map(linear)
    .map(([r, g, blue]) => 0.2126 * r + 0.7152 * g + 0.0722 * blue)
    .sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

/** How colours look to others. Source: Machado, Oliveira and Fernandes 2009, severity 1. */
const SIGHTS: Record<string, Triple[]> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** CIELAB under D65. */
function lab(hex: string, sight: Triple[]): Triple {
  const seen = multiply(sight, linear(hex)).map((value) => Math.min(1, Math.max(0, value))) as Triple;
  const xyz = multiply(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]],
    seen,
  );
  const [x, y, z] = xyz.map((value, i) => {
    const share = value / [0.95047, 1, 1.08883][i];
    return share > 216 / 24389 ? Math.cbrt(share) : (24389 / 27 * share + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function multiply(matrix: Triple[], vector: Triple): Triple {
  return matrix.map((row) => row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2]) as Triple;
}

/** CIEDE2000. Source: Sharma, Wu and Dalal 2005. */
function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [x1, x2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(x1, b1), Math.hypot(x2, b2)];
  const hue = (b: number, x: number) => ((Math.atan2(b, x) * 180) / Math.PI + 360) % 360;
  const [h1, h2] = [hue(b1, x1), hue(b2, x2)];
  const both = c1 * c2 !== 0;
  let dh = both ? h2 - h1 : 0;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  let h = h1 + h2;
  if (both) h = Math.abs(h1 - h2) <= 180 ? h / 2 : h < 360 ? (h + 360) / 2 : (h - 360) / 2;
  const cos = (degrees: number) => Math.cos((degrees * Math.PI) / 180);
  const l = (l1 + l2) / 2;
  const c = (c1 + c2) / 2;
  const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const sc = 1 + 0.045 * c;
  const sh = 1 + 0.015 * c * t;
  const turn = 60 * Math.exp(-(((h - 275) / 25) ** 2));
  const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin((turn * Math.PI) / 180);
  const dl = (l2 - l1) / sl;
  const dc = (c2 - c1) / sc;
  const dH = (2 * Math.sqrt(c1 * c2) * Math.sin((dh * Math.PI) / 360)) / sh;
  return Math.sqrt(dl ** 2 + dc ** 2 + dH ** 2 + rt * dc * dH);
}

describe.each<Theme>(["light", "dark"])("the colours of the %s theme", (theme) => {
  const { background, text, muted, groups, failure, hatched } = PALETTES[theme];
  const bars = { ...groups, failure };

  it("have 3:1 for bars and 4.5:1 for text against what they stand on", () => {
    for (const [name, colour] of Object.entries(bars)) {
      expect(contrast(colour, background), name).toBeGreaterThanOrEqual(3);
    }
    expect(contrast(text, background)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(muted, background)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(Object.keys(SIGHTS))("differ by 12 or more (CIEDE2000) to %s sight", (sight) => {
    const solid = Object.entries(bars).filter(([name]) => name !== "none"); // drawn as an outline
    for (const [i, [name, colour]] of solid.entries()) {
      for (const [otherName, other] of solid.slice(i + 1)) {
        const seen = difference(lab(colour, SIGHTS[sight]), lab(other, SIGHTS[sight]));
        expect(seen, `${name} and ${otherName}`).toBeGreaterThanOrEqual(12);
      }
    }
  });

  it("are those of the style sheet", () => {
    const tokens = Object.fromEntries(
      Array.from(styles.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g), ([, name, light, dark]) => [
        name,
        (theme === "light" ? light : dark).toUpperCase(),
      ]),
    );
    expect(tokens).toMatchObject({
      ground: background,
      ink: text,
      "ink-muted": muted,
      "bar-setup": groups.setup,
      "bar-runtime": groups.runtime,
      "bar-teardown": groups.teardown,
      "bar-waiting": groups.waiting,
      failure,
    });
  });

  it("are hatched where nobody works", () => expect(hatched).toEqual(["waiting"]));
});

describe("the measure of difference", () => {
  it("gives what its authors published", () => {
    // Sharma, Wu and Dalal 2005, table 1, pairs 1, 7, 17 and 25.
    expect(difference([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
    expect(difference([50, 0, 0], [50, -1, 2])).toBeCloseTo(2.3669, 4);
    expect(difference([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4);
    expect(difference([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387])).toBeCloseTo(1.2644, 4);
  });
});

describe("words", () => {
  it("give every phase a text of its own", () => {
    expect(KNOWN_PHASES).toEqual([...PHASES]);
    const words = KNOWN_PHASES.map(phaseWords);
    expect(new Set(words.map(({ text }) => text)).size).toBe(PHASES.length);
  });

  it("know every operation and flag, each by another text", () => {
    expect(new Set(OPERATIONS.map(operationWords)).size).toBe(OPERATIONS.length);
    const flags = QUALITIES.slice(1).map(qualityWords);
    expect(new Set(flags.map(({ title }) => title)).size).toBe(flags.length);
    for (const { meaning } of flags) expect(meaning).toMatch(/\.$/);
  });

  it("make do with names of a newer server", () => {
    expect(operationWords("DISK_CHECK")).toBe("Disk check");
    expect(phaseWords("LOST").text).toBe("Lost");
    expect(qualityWords("ODD_TIMES").title).toBe("Odd times");
  });

  it("name the flags that are set", () => {
    expect(qualitiesOf((1 << 2) | (1 << 16) | 1, QUALITIES)).toEqual(["INFERRED_START", "STALE"]);
  });

  it("sum up sub-tasks", () => {
    expect(subtaskWords({ total: 20_000, succeeded: 19_990, failed: 10, open: 0, other: 0 })).toBe(
      "20,000 sub-tasks: 19,990 ✓ 10 ✕",
    );
    expect(subtaskWords({ total: 3, succeeded: 0, failed: 0, open: 2, other: 1 })).toBe("3 sub-tasks: 2 ▶ 1 other");
    expect(subtaskWords({ total: 0, succeeded: 0, failed: 0, open: 0, other: 0 })).toBe("");
  });

  it("count", () => {
    expect([plural(1, "node"), plural(20_000, "sub-task"), plural(2, "entry", "entries")]).toEqual(
      ["1 node", "20,000 sub-tasks", "2 entries"],
    );
  });
});
