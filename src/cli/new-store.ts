import { parseArgs } from 'node:util'
import { readConfig } from '../foundation/process/settings.ts'
import { createForm } from './new-store/form.ts'
import { checkServer } from './new-store/installation.ts'
import { open } from './new-store/open.ts'
import { openPrompt } from './new-store/prompt.ts'
import { resultJson, resultText } from './new-store/result.ts'
import { runProgram } from './run-program.ts'
import { findServer } from './server.ts'

const usage = `Usage: npm run new-store -- [--url ADDRESS --name NAME --email ADDRESS] [--currency CODE] [--time-zone ZONE]
         [--application NAME] [--privileges all|Orders:read+write,Products:read] [--generate-password] [--json]
Opens a store with its merchant and an application on the running server. What is missing of --url, --name and --email is
asked for. The password is asked for too, or is the next line of standard input. Run again, it makes what is missing.
`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const

await runProgram(usage, main)

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: {
      ...{ url: text, name: text, email: text, currency: text, 'time-zone': text, application: text, privileges: text },
      ...{ 'generate-password': flag, json: flag },
    },
  })
  const { 'generate-password': isPasswordMade, json: isJson, ...given } = values
  const { timeZone, restPrefixes, soapPath } = readConfig(environment)
  const server = await findServer(environment)
  const prompt = openPrompt()
  const form = createForm(prompt, given)
  await checkServer(server)
  try {
    const opened = await open({ server, prompt, form, isPasswordMade, timeZone })
    const place = { publicUrl: server.baseUrl, restPrefixes, soapPath }
    process.stdout.write(isJson ? `${JSON.stringify(resultJson(place, opened), null, 2)}\n` : resultText(place, opened))
    return true
  } finally {
    prompt.close()
  }
}
