// Fields that several views have.

import { useSignal } from "@preact/signals";
import type { Signalish, TargetedInputEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

const REST_MS = 200;

interface TextProps {
  placeholder: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  /** Whether / leads to it. */
  "data-search"?: boolean;
}

interface InputProps extends TextProps {
  value: Signalish<string>;
  onInput: (event: TargetedInputEvent<HTMLInputElement>) => void;
  onChange?: () => void;
  onBlur?: () => void;
}

/** Text that is a name, or part of one. */
export function TextInput(props: InputProps) {
  return <input type="text" spellcheck={false} autocomplete="off" {...props} />;
}

interface LazyProps extends TextProps {
  value: string;
  /** Is told what was written, a moment after the last key; `goesOn` after it was told of the same writing before. */
  onText: (text: string, goesOn: boolean) => void;
}

export function LazyInput({ value, onText, ...rest }: LazyProps) {
  const text = useSignal(value);
  const sent = useRef(value);
  const timer = useRef(0);
  const goesOn = useRef(false);
  // What is to be told of the moment at which the key was pressed is old when the text is sent.
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => {
    // The address was changed from elsewhere: by the way back, or a link.
    if (value === sent.current) return;
    text.value = sent.current = value;
    goesOn.current = false;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (): void => {
    clearTimeout(timer.current);
    const written = text.peek().trim();
    if (written === sent.current) return;
    sent.current = written;
    latest.current(written, goesOn.current);
    goesOn.current = true;
  };
  return (
    <TextInput
      {...rest}
      value={text}
      onInput={(event) => {
        text.value = event.currentTarget.value;
        clearTimeout(timer.current);
        timer.current = window.setTimeout(send, REST_MS);
      }}
      onChange={send}
      onBlur={() => void (goesOn.current = false)}
    />
  );
}

interface ChoiceProps {
  label?: string;
  value: string;
  /** Values, and their words. */
  options: readonly (readonly [string, string])[];
  onChoice: (value: string) => void;
}

export function Choice({ label, value, options, onChoice }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChoice(event.currentTarget.value)}>
      {options.map(([of, words]) => (
        <option key={of} value={of}>
          {words}
        </option>
      ))}
    </select>
  );
}

interface CheckProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

export function Check({ label, isOn, onChange }: CheckProps) {
  return (
    <label class="vw-check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
