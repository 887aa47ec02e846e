import { StartupError } from '../foundation/process/startup-error.ts'
import { printable } from './printable.ts'

/** Runs a command line program; with `--help` it shows the usage alone. Exit code: 0 when it returns true, 1 when false, `failureCode` with one clear line when it fails. */
export async function runProgram(
  usage: string,
  main: (given: string[], environment: NodeJS.ProcessEnv) => Promise<boolean>,
  failureCode = 1,
): Promise<void> {
  // The reader of the output may close it; the program then ends by itself.
  process.stdout.on('error', () => {})
  const given = process.argv.slice(2)
  if (given.includes('--help')) return void process.stdout.write(`${usage.trimEnd()}\n`)
  try {
    if (!(await main(given, process.env))) process.exitCode = 1
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isForeseen = error instanceof StartupError || code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`${printable(isForeseen ? message : `Unexpectedly, ${message}`)}\n`)
    process.exitCode = failureCode
  }
}
