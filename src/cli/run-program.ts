import { StartupError } from '../startup-error.ts'

/** Runs a program of the command line: exit code 0 when it answers true, else 1; a failure is one clear line. */
export async function runProgram(
  main: (given: string[], environment: NodeJS.ProcessEnv) => Promise<boolean>,
): Promise<void> {
  // Whoever reads the output may go away; the program then ends by itself.
  process.stdout.on('error', () => {})
  try {
    if (!(await main(process.argv.slice(2), process.env))) process.exitCode = 1
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`)
    process.exitCode = 1
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StartupError) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  return code?.startsWith('ERR_PARSE_ARGS') ? message : `Unexpectedly, ${message}`
}
