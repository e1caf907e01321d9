/** Decodes an execution from columns: what the server sends for a timeline (docs/columns.md). */

import type { ColumnPlace, Execution, Header, Reasons, Spans, Strings } from "./execution";

export type {
  ColumnPlace,
  Entity,
  Execution,
  Header,
  ReasonForm,
  Reasons,
  Segments,
  SpanForm,
  Spans,
  Strings,
} from "./execution";

/** Says that bytes are not columns that this page can read, and why. */
export class ColumnsError extends Error {
  override name = "ColumnsError";
}

const MAGIC = "SPANCOL1";
const VERSION = 1;
const HEAD_BYTES = 12;

/**
 * Decodes columns.
 *
 * @throws ColumnsError for bytes that are none, are cut off, or are of another version.
 */
export function decodeColumns(buffer: ArrayBuffer): Execution {
  const { header, body } = readHeader(buffer);
  const columns = new Columns(header, body);
  const startNs = BigInt(header.start_ns);
  const spans = decodeSpans(header, columns);
  return {
    header,
    startNs,
    endOffset: header.end_ns === null ? NaN : Number(BigInt(header.end_ns) - startNs),
    asOfOffset: Number(BigInt(header.as_of_ns) - startNs),
    spans,
    reasons: decodeReasons(header, columns, spans),
    segments: {
      count: header.num_segments,
      span: columns.integers("segment_span", header.num_segments),
      start: columns.floats("segment_start", header.num_segments),
      end: columns.floats("segment_end", header.num_segments),
      approximate: Uint8Array.from(columns.integers("segment_approximate", header.num_segments)),
    },
    strings: decodeStrings(columns),
  };
}

/** The id of a span as 16 lower-case hexadecimal digits. */
export function spanIdHex(spans: Spans, index: number): string {
  return hex8(spans.idHigh[index]) + hex8(spans.idLow[index]);
}

/** The span that has an id; -1 when none has, as for "". */
export function findSpan(spans: Spans, id: string): number {
  const high = Number.parseInt(id.slice(0, 8), 16);
  const low = Number.parseInt(id.slice(8), 16);
  let at = spans.idLow.indexOf(low);
  while (at >= 0 && spans.idHigh[at] !== high) at = spans.idLow.indexOf(low, at + 1);
  return at;
}

function hex8(value: number): string {
  return value.toString(16).padStart(8, "0");
}

function readHeader(buffer: ArrayBuffer): { header: Header; body: Uint8Array } {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
  if (bytes.length < HEAD_BYTES || magic !== MAGIC) {
    throw new ColumnsError(`these ${bytes.length} bytes are no columns: they do not begin with ${MAGIC}`);
  }
  const headerBytes = new DataView(buffer).getUint32(MAGIC.length, true);
  const bodyStart = HEAD_BYTES + headerBytes;
  if (bodyStart > bytes.length) {
    throw new ColumnsError(`the columns are cut off: ${bytes.length} bytes, of which ${bodyStart} are header`);
  }
  const text = new TextDecoder().decode(bytes.subarray(HEAD_BYTES, bodyStart));
  let header: Header;
  try {
    header = JSON.parse(text) as Header;
  } catch (error) {
    throw new ColumnsError("the header of the columns is not JSON", { cause: error });
  }
  if (header.version !== VERSION) {
    throw new ColumnsError(
      `the columns are of version ${header.version}; this page reads version ${VERSION}: reload it`,
    );
  }
  return { header, body: bytes.subarray(bodyStart) };
}

/** Reads columns: value i of a column is the sum of byte i of each plane k times 256 ** k. */
class Columns {
  constructor(
    private readonly header: Header,
    private readonly body: Uint8Array,
  ) {}

  place(name: string, length?: number): ColumnPlace {
    const place = this.header.columns[name];
    if (place === undefined) {
      throw new ColumnsError(`the columns lack ${name}`);
    }
    if (length !== undefined && place.length !== length) {
      throw new ColumnsError(`column ${name} has ${place.length} values instead of ${length}`);
    }
    if (place.offset + place.width * place.length > this.body.length) {
      throw new ColumnsError(`the columns are cut off in ${name}: ${this.body.length} bytes of body`);
    }
    return place;
  }

  plane(place: ColumnPlace, k: number): Uint8Array {
    const start = place.offset + k * place.length;
    return this.body.subarray(start, start + place.length);
  }

  /** Values that fit into 32 bits. */
  integers(name: string, length?: number): Uint32Array<ArrayBuffer> {
    const place = this.place(name, length);
    if (place.width > 4) {
      throw new ColumnsError(`column ${name} has values of ${place.width} bytes instead of 4 or less`);
    }
    return this.word(place, 0);
  }

  /** Four planes, from plane `first`, as one number; planes that are not there are 0. */
  word(place: ColumnPlace, first: number): Uint32Array<ArrayBuffer> {
    const values = new Uint32Array(place.length);
    const planes = Math.min(place.width - first, 4);
    for (let k = 0; k < planes; k++) {
      const plane = this.plane(place, first + k);
      const shift = 8 * k;
      for (let i = 0; i < plane.length; i++) {
        values[i] |= plane[i] << shift;
      }
    }
    return values;
  }

  /** Values as floats: exact up to 2 ** 53, which is 104 days in nanoseconds. None is NaN. */
  floats(name: string, length: number): Float64Array<ArrayBuffer> {
    const place = this.place(name, length);
    const values = new Float64Array(place.length);
    // From the most significant plane on, so that a value is rounded only where it must be.
    for (let k = place.width - 1; k >= 0; k--) {
      const plane = this.plane(place, k);
      const scale = 256 ** k;
      for (let i = 0; i < plane.length; i++) {
        values[i] += plane[i] * scale;
      }
    }
    if (place.plus_one) {
      for (let i = 0; i < values.length; i++) {
        values[i] = values[i] === 0 ? NaN : values[i] - 1;
      }
    }
    return values;
  }

  bytes(name: string): Uint8Array {
    const place = this.place(name);
    return place.width === 0 ? new Uint8Array(place.length) : this.plane(place, 0);
  }
}

function decodeSpans(header: Header, columns: Columns): Spans {
  const count = header.num_spans;
  const forms = header.span_forms;
  const form = columns.integers("span_form", count);
  const depth = columns.integers("span_depth", count);
  const id = columns.place("span_id", count);
  const label = new Int32Array(count);
  fill(label, form, forms, 7);
  for (let i = 0; i < count; i++) {
    label[i] -= 1;
  }
  return {
    count,
    start: columns.floats("span_start", count),
    end: columns.floats("span_end", count),
    depth,
    ...relate(depth),
    name: columns.integers("span_name", count),
    form,
    kind: fill(new Uint8Array(count), form, forms, 0),
    phase: fill(new Uint8Array(count), form, forms, 1),
    operation: fill(new Uint8Array(count), form, forms, 2),
    attempt: fill(new Uint32Array(count), form, forms, 3),
    qualities: fill(new Uint32Array(count), form, forms, 4),
    cache: fill(new Uint8Array(count), form, forms, 5),
    nodeKind: fill(new Uint8Array(count), form, forms, 6),
    label,
    idHigh: columns.word(id, 4),
    idLow: columns.word(id, 0),
    reasonFirst: accumulate(columns.integers("span_reasons", count)),
    critical: columns.floats("span_critical", count),
  };
}

function decodeReasons(header: Header, columns: Columns, spans: Spans): Reasons {
  const count = header.num_reasons;
  const first = spans.reasonFirst;
  if (first[spans.count] !== count) {
    throw new ColumnsError(`the spans have ${first[spans.count]} reasons, the columns ${count}`);
  }
  const forms = header.reason_forms;
  const form = columns.integers("reason_form", count);
  const span = new Uint32Array(count);
  for (let i = 0; i < spans.count; i++) {
    span.fill(i, first[i], first[i + 1]);
  }
  return {
    count,
    at: columns.floats("reason_at", count),
    message: columns.integers("reason_message", count),
    span,
    form,
    phase: fill(new Uint8Array(count), form, forms, 0),
    severity: fill(new Uint8Array(count), form, forms, 1),
    operation: fill(new Uint8Array(count), form, forms, 2),
    occurrences: fill(new Uint32Array(count), form, forms, 3),
    source: fill(new Uint32Array(count), form, forms, 4),
    isCut: fill(new Uint8Array(count), form, forms, 5),
  };
}

function decodeStrings(columns: Columns): Strings {
  const ends = columns.integers("string_end");
  const bytes = columns.bytes("strings");
  const decoded: (string | undefined)[] = [];
  // A string may begin with what looks like a byte order mark: it is part of the string.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    count: ends.length,
    get(index: number): string {
      let text = decoded[index];
      if (text === undefined) {
        text = decoder.decode(bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]));
        decoded[index] = text;
      }
      return text;
    },
  };
}

/** Gives every item the field that its form has. */
function fill<T extends Uint8Array | Uint32Array | Int32Array>(
  values: T,
  form: Uint32Array,
  forms: readonly (readonly number[])[],
  field: number,
): T {
  const ofForm = Float64Array.from(forms, (each) => each[field]);
  for (let i = 0; i < values.length; i++) {
    values[i] = ofForm[form[i]];
  }
  return values;
}

/** Gives the sums of all counts before each, and of all. */
function accumulate(counts: Uint32Array): Uint32Array {
  const sums = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) {
    sums[i + 1] = sums[i] + counts[i];
  }
  return sums;
}

/** Gives parents and ends of subtrees of spans in pre-order. */
function relate(depth: Uint32Array): { parent: Int32Array; subtreeEnd: Int32Array } {
  const parent = new Int32Array(depth.length);
  const subtreeEnd = new Int32Array(depth.length);
  const path: number[] = []; // the last span of each depth: those that are still open
  for (let i = 0; i < depth.length; i++) {
    const level = depth[i];
    if (level > path.length || (level === 0 && i > 0)) {
      throw new ColumnsError(`span ${i} has depth ${level} but no parent`);
    }
    while (path.length > level) {
      subtreeEnd[path.pop()!] = i;
    }
    parent[i] = level === 0 ? -1 : path[level - 1];
    path.push(i);
  }
  for (const open of path) {
    subtreeEnd[open] = depth.length;
  }
  return { parent, subtreeEnd };
}
