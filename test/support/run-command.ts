import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { programEnv } from './run-server.ts'

export interface Outcome {
  readonly code: number
  readonly output: string
  readonly errors: string
}

export interface Command {
  /** Resolves when standard error, where questions are asked, shows `text`. Rejects when the command ends before. */
  shows(text: string): Promise<void>
  answer(line: string): void
  /** Ends the input, behind `rest`, and waits for the end of the command. */
  ends(rest?: string): Promise<Outcome>
  /** By SIGKILL, as a lost machine. */
  kill(): void
}

/** Starts a file of src/cli as npm does, on a terminal or not, with these settings and none of the test's own environment but PATH. */
export function startCommand(
  name: string,
  args: readonly string[],
  { settings, cwd, isTerminal = false }: { settings: Record<string, string>; cwd: string; isTerminal?: boolean },
): Command {
  const file = fileURLToPath(new URL(`../../src/cli/${name}.ts`, import.meta.url))
  const [program, given] = isTerminal
    ? onTerminal([process.execPath, file, ...args])
    : ([process.execPath, [file, ...args]] as const)
  const outcome = Promise.withResolvers<Outcome>()
  const child = execFile(program, given, { env: { ...programEnv, ...settings }, cwd }, (error, output, errors) =>
    outcome.resolve({ code: Number(error?.code ?? 0), output, errors }),
  )
  let shown = ''
  // A command that ends early does not read its input.
  child.stdin?.on('error', () => {})
  const screen = isTerminal ? child.stdout : child.stderr
  screen?.on('data', (chunk: string) => {
    shown += chunk
  })
  return {
    shows: async (text) => {
      const ended = outcome.promise.then(({ errors }) => {
        if (!errors.includes(text)) throw new Error(`The command ended: ${errors}`)
      })
      while (!shown.includes(text)) {
        await Promise.race([new Promise((resolve) => screen?.once('data', resolve)), ended])
      }
    },
    answer: (line) => child.stdin?.write(`${line}\n`),
    ends: (rest) => {
      child.stdin?.end(rest)
      return outcome.promise
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** The program `script` opens a terminal, on which standard output and standard error are one. */
function onTerminal(command: readonly string[]): readonly [string, string[]] {
  const line = command.map((part) => `'${part}'`).join(' ')
  return ['script', ['--quiet', '--return', '--command', line, '/dev/null']]
}
