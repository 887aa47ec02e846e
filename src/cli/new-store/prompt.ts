import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Asks on standard error, because standard output is for the result, and reads answers from standard input, a line each. */
export interface Prompt {
  /** Null: the input has ended. A hidden answer is not echoed on a terminal. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string | null>
  say(line: string): void
  /** Whether a person types the answers. */
  readonly isTerminal: boolean
  close(): void
}

export function openPrompt(): Prompt {
  const isTerminal = process.stdin.isTTY === true
  let isHidden = false
  const echo = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isHidden) process.stderr.write(chunk)
      done()
    },
  })
  let lines: NodeJS.AsyncIterator<string> | undefined
  let close = () => {}
  // Standard input is not touched before the first question, so that a command without any does not wait for it.
  const open = () => {
    const reader = createInterface({ input: process.stdin, output: echo, terminal: isTerminal, historySize: 0 })
    close = () => reader.close()
    return reader[Symbol.asyncIterator]()
  }
  return {
    ask: async (question, { hidden = false } = {}) => {
      lines ??= open()
      process.stderr.write(question)
      isHidden = hidden
      const { value, done } = await lines.next()
      isHidden = false
      if (hidden || !isTerminal || done) process.stderr.write('\n')
      return done ? null : value
    },
    say: (line) => process.stderr.write(`${line}\n`),
    isTerminal,
    close: () => close(),
  }
}
