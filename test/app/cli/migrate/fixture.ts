import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { registerApplication } from '../../../../src/access/applications/applications.ts'
import { subscribe } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import type { TransferLine } from '../../../../src/engine/transfer/import.ts'
import { resources } from '../../../../src/shop/registry.ts'
import { operator as operatorActor } from '../../../support/actors.ts'
import { type OddSource, type OddSourceOptions, openOddSource } from '../../../support/odd-source.ts'
import { type Command, type Outcome, startCommand } from '../../../support/run-command.ts'
import { temporaryFolder } from '../../../support/run-server.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { fullBody, newRecord, nextSeed } from '../../conformance/records.ts'
import { fixtureOf } from '../../conformance/stage.ts'
import { exportOf, linesOf } from '../../engine/transfer/fixture.ts'

export interface Stage {
  readonly server: TestServer
  readonly url: string
  /** A new store that is copied. */
  readonly openSource: (fill?: (shop: TestStore) => Promise<void>) => Promise<TestStore>
  readonly openMove: (shop: TestStore, options?: OddSourceOptions) => Promise<Move>
  readonly close: () => Promise<void>
}

/** A copy of a store behind an odd source into an empty one. */
export interface Move {
  readonly source: OddSource
  readonly here: TestStore
  readonly dataDir: string
  /** The folder of the copy. */
  readonly folder: string
  readonly settings: Record<string, string>
  readonly start: (
    args?: readonly string[],
    settings?: Record<string, string>,
    options?: { isTerminal?: boolean },
  ) => Command
  readonly run: (args?: readonly string[], settings?: Record<string, string>) => Promise<Outcome>
  /** The lines of a file of the copy. */
  readonly lines: (name: string) => Record<string, unknown>[]
  /** Everything in the folder of the copy. */
  readonly text: () => string
}

/** One server with the stores of both sides. */
export async function openStage(settings: Record<string, string> = {}): Promise<Stage> {
  const server = await openServer(settings)
  // The source's clock is the one of its answers.
  server.clock.ms = Date.now()
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  const closing: (() => unknown)[] = []
  return {
    server,
    url,
    openSource: async (fill = (shop) => fillEveryService(server, shop)) => {
      const shop = await server.openStore()
      await fill(shop)
      return shop
    },
    openMove: async (shop, options) => {
      const source = await openOddSource(url, options)
      const here = await server.openStore()
      const dataDir = temporaryFolder()
      closing.push(source.close, () => rmSync(dataDir, { recursive: true }))
      const folder = join(dataDir, 'migrate', `store-${here.store.id}`)
      const { privatekey, token, secureurl } = shop.credentials
      const all = {
        PUBLIC_URL: url,
        OPERATOR_KEY: server.services.operatorKey,
        DATA_DIR: dataDir,
        MIGRATE_PRIVATE_KEY: privatekey,
        MIGRATE_TOKEN: token,
        MIGRATE_SECURE_URL: secureurl,
      }
      const start: Move['start'] = (args = [], others = {}, options = {}) =>
        startCommand('migrate', ['--from', source.url, '--store', String(here.store.id), ...args], {
          settings: { ...all, ...others },
          cwd: dataDir,
          ...options,
        })
      return {
        ...{ source, here, dataDir, folder, settings: all, start },
        run: (args, others) => start(args, others).ends(),
        lines: (name) =>
          readFileSync(join(folder, name), 'utf8')
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as Record<string, unknown>),
        text: () =>
          readdirSync(folder)
            .map((name) => readFileSync(join(folder, name), 'utf8'))
            .join('\n'),
      }
    },
    close: async () => {
      for (const close of closing) await close()
      await server.close()
    },
  }
}

/** Three records of each service, of which two have every writable field set. */
export async function fillEveryService(server: TestServer, shop: TestStore): Promise<void> {
  for (const resource of resources) {
    const fixture = fixtureOf(resource)
    const filled = { ...shop, references: (await fixture.prepare?.(shop)) ?? {} }
    const ground = { server, resource, fixture }
    for (const seed of [nextSeed('odd'), nextSeed('even')]) {
      await newRecord(ground, filled, fullBody(ground, filled, seed))
    }
    await newRecord(ground, filled, fixture.minimal(nextSeed('even')))
  }
}

/** The records of a store as REST shows them, by service and id; links to any store are links to `https://shop`. */
export async function recordsOf(server: TestServer, shop: TestStore): Promise<Map<string, object>> {
  const lines = linesOf((await exportOf(server, shop)).replaceAll(/https:\/\/shop-\d+\.example/g, 'https://shop'))
  const shown = lines.filter(({ service }) => resources.some((each) => each.service === service))
  return new Map(shown.map((line, index) => [nameOf(line, index), line.record]))
}

function nameOf({ service, record }: TransferLine, index: number): string {
  const { resultKey } = resources.find((each) => each.service === service) ?? { resultKey: '' }
  const [id = index] = [record, ...Object.values(record)].flatMap(
    (each) => (each as Record<string, number>)[resultKey] ?? [],
  )
  return `${service} ${id}`
}

/** The members of two stores that differ, as texts. */
export async function differencesBetween(server: TestServer, one: TestStore, other: TestStore): Promise<string[]> {
  const [a, b] = [await recordsOf(server, one), await recordsOf(server, other)]
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => membersThatDiffer(name, a.get(name), b.get(name)))
}

function membersThatDiffer(path: string, a: unknown, b: unknown): string[] {
  if (!isObject(a) || !isObject(b)) return isDeepStrictEqual(a, b) ? [] : [`${path}: ${String(a)} / ${String(b)}`]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    membersThatDiffer(`${path}.${key}`, a[key], b[key]),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A second application of a store that may do less. */
export async function keysFor(
  { services }: TestServer,
  { store }: TestStore,
  privileges: Record<string, ('read' | 'write')[]>,
): Promise<Record<string, string>> {
  const { publicKey, privateKey } = await registerApplication(services, { Name: 'Less', Privileges: privileges })
  const { token } = await subscribe(services, { storeId: store.id, publicKey, actor: operatorActor })
  return { MIGRATE_PRIVATE_KEY: privateKey, MIGRATE_TOKEN: token }
}

export function expectEnd({ code, output, errors }: Outcome, wanted: number): string {
  expect(code, `${output}\n${errors}`).toBe(wanted)
  return output
}
