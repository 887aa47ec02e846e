import { StartupError } from '../process/startup-error.ts'

/** Runs a program of the command line: exit code 0 when it answers true, else 1; a failure is one clear line and `failureCode`. */
export async function runProgram(
  main: (given: string[], environment: NodeJS.ProcessEnv) => Promise<boolean>,
  failureCode = 1,
): Promise<void> {
  // Whoever reads the output may go away; the program then ends by itself.
  process.stdout.on('error', () => {})
  try {
    if (!(await main(process.argv.slice(2), process.env))) process.exitCode = 1
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`)
    process.exitCode = failureCode
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof StartupError) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  return code?.startsWith('ERR_PARSE_ARGS') ? message : `Unexpectedly, ${message}`
}
