import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { temporaryFolder } from '../../test/support/run-server.ts'
import { type Call, callsOf } from './calls.ts'
import { type Family, run, type Way, type Wsdls } from './families.ts'
import { records } from './records.ts'
import type { Server } from './server.ts'

/** What a program is handed, as a JSON file. */
interface Plan extends Wsdls {
  readonly version: Way['version']
  readonly way: string
  readonly address: string
  readonly namespace: string
  readonly calls: readonly Call[]
  /** A call of the operation that the server lacks. Of its fault: the local name of the code, and a part of the text. */
  readonly fault: Pick<Call, 'operation' | 'parameters'> & { readonly code: string; readonly text: string }
}

export interface Outcome {
  /** Whether every call was made, and every answer was as expected. */
  readonly isExpected: boolean
  /** A line for each call. */
  readonly output: string
}

/** Runs a family's program in each of its ways, against a new store each time. Rejects when the program cannot be built. */
export async function runFamily(server: Server, family: Family): Promise<Outcome> {
  const folder = temporaryFolder()
  try {
    const wsdls = { wsdl: `${server.address}?WSDL`, newerWsdl: join(folder, 'newer.wsdl') }
    await writeFile(wsdls.newerWsdl, (await textOf(wsdls.wsdl)).replaceAll('getCustomerCount', 'runQuery'))
    const commandOf = await family.build(folder, wsdls)
    const outcomes: Outcome[] = []
    for (const way of family.ways) {
      const plan = await planOf(server, way, wsdls)
      const file = join(folder, 'plan.json')
      await writeFile(file, JSON.stringify(plan))
      const { code, output } = await run([...commandOf(way), file])
      const count = plan.calls.length + 1
      outcomes.push({
        isExpected: code === 0 && output.endsWith(`\n${count} of ${count} as expected\n`),
        output: `${family.name}, SOAP ${way.version}, ${way.way}\n${output}`,
      })
    }
    return {
      isExpected: outcomes.every(({ isExpected }) => isExpected),
      output: outcomes.map(({ output }) => output).join('\n'),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function planOf(server: Server, { version, way, namespace }: Way, wsdls: Wsdls): Promise<Plan> {
  const shop = await server.openStore(records)
  return {
    ...wsdls,
    version,
    way,
    address: server.address,
    namespace: server.namespaces[namespace],
    calls: await callsOf(server, shop),
    fault: {
      operation: 'runQuery',
      parameters: { ...shop },
      code: version === '1.1' ? 'Client' : 'Sender',
      text: 'There is no operation runQuery',
    },
  }
}

async function textOf(url: string): Promise<string> {
  const { statusCode, body } = await request(url)
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${text}`)
  return text
}
