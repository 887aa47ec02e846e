const armed = /^'*[=+\-@\t\r\n＝＋－＠]/

/** The text for a file. What a spreadsheet would take for a formula gets an apostrophe before it. */
export function disarm(text: string): string {
  return armed.test(text) ? `'${text}` : text
}

/** The text of a file without the apostrophe that `disarm` put before it. */
export function rearm(text: string): string {
  return text.startsWith("'") && armed.test(text) ? text.slice(1) : text
}
