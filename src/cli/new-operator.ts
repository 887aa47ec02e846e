import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { StartupError } from '../foundation/process/startup-error.ts'
import { change, checkServer } from './new-store/installation.ts'
import { runProgram } from './run-program.ts'
import { findServer } from './server.ts'

const usage = `Usage: npm run new-operator -- --email ADDRESS [--json]
Lets a person run the installation by the pages at /operator, and prints the link by which that person chooses a password. Run
again for the same address, it prints a new link.
`

await runProgram(usage, main)

interface Operator {
  readonly Email: string
  readonly Link: string
  readonly ExpiresAt: string
}

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { email: { type: 'string' }, json: { type: 'boolean' } } as const
  const { email, json = false } = parseArgs({ args, options }).values
  if (email === undefined) throw new StartupError(`--email is missing\n${usage}`)
  const server = await findServer(environment)
  await checkServer(server)
  const made = await change<Operator>(server, '/admin/operators', { Email: email }, randomUUID())
  process.stdout.write(json ? `${JSON.stringify(made, null, 2)}\n` : inWords(made))
  return true
}

function inWords({ Email, Link, ExpiresAt }: Operator): string {
  return `${Email} is an operator. By this link the person chooses a password; it works once, until ${ExpiresAt}:\n${Link}\n`
}
