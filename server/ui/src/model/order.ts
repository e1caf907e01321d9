/** Order in typed arrays: binary search, and sorting that keeps up with hundreds of thousands. */

export interface Ascending {
  readonly length: number;
  readonly [index: number]: number;
}

/** Index of the first value that is not less than `value`, in ascending values. */
export function lowerBound(
  values: Ascending,
  value: number,
  from = 0,
  to = values.length,
): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Index of the first value that is greater than `value`, in ascending values. */
export function upperBound(
  values: Ascending,
  value: number,
  from = 0,
  to = values.length,
): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] <= value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Gives the indices of values in ascending order of value, those of equal value in their own order.
 * NaN counts as infinity. About five times as fast as sorting indices by comparison: the values are
 * sorted as plain numbers, and each index then finds its place.
 */
export function orderBy(values: Float64Array): Uint32Array {
  const count = values.length;
  const order = new Uint32Array(count);
  let isSorted = true;
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    keys[i] = Number.isNaN(values[i]) ? Infinity : values[i];
    if (i > 0 && keys[i] < keys[i - 1]) isSorted = false;
  }
  if (isSorted) {
    for (let i = 0; i < count; i++) order[i] = i;
    return order;
  }
  const sorted = keys.slice().sort();
  const taken = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const first = lowerBound(sorted, keys[i]);
    order[first + taken[first]++] = i;
  }
  return order;
}
