import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

export type Prompt = ReturnType<typeof openPrompt>

/** Asks on standard error, because standard output is for the result, and reads answers from standard input, a line each. */
export function openPrompt() {
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
    /** Null: the input has ended. A hidden answer is not echoed on a terminal. */
    ask: async (question: string, { hidden = false } = {}): Promise<string | null> => {
      lines ??= open()
      process.stderr.write(question)
      isHidden = hidden
      const { value, done } = await lines.next()
      isHidden = false
      if (hidden || !isTerminal || done) process.stderr.write('\n')
      return done ? null : value
    },
    say: (line: string) => process.stderr.write(`${line}\n`),
    /** Whether a person types the answers. */
    isTerminal,
    close: () => close(),
  }
}
