import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProgram } from '../../test/support/run-server.ts'

/** One way in which programs of a family call. */
export interface Way {
  readonly version: '1.1' | '1.2'
  /** Tells the program what the version alone does not. */
  readonly way: string
  /** Of the server's two: what was written by the WSDL has the first. */
  readonly namespace: 0 | 1
}

export interface Wsdls {
  readonly wsdl: string
  /** A file. Of a service that has `runQuery` in place of getCustomerCount. */
  readonly newerWsdl: string
}

export type Command = readonly [program: string, ...arguments: string[]]

/** Programs that use one library. */
export interface Family {
  readonly name: string
  /** For people. */
  readonly title: string
  readonly isInstalled: boolean
  /** Whether REQUIRE_SOAP_CLIENTS demands it. */
  readonly isRequired: boolean
  readonly ways: readonly Way[]
  /** Builds what must be built, in a folder of its own; then tells how its program is started. */
  readonly build: (folder: string, wsdls: Wsdls) => Promise<(way: Way) => Command>
}

/** zeep may belong to the system's Python, when another one comes first. */
const python = ['/usr/bin/python3', 'python3'].find((program) => succeeds(program, '-c', 'import zeep'))

export const families: readonly Family[] = [
  {
    name: 'php',
    title: 'PHP SoapClient',
    isInstalled: succeeds('php', '-r', 'exit(class_exists("SoapClient") ? 0 : 1);'),
    isRequired: true,
    ways: [
      { version: '1.1', way: 'wsdl', namespace: 0 },
      { version: '1.2', way: 'wsdl', namespace: 0 },
      { version: '1.1', way: 'plain', namespace: 1 },
    ],
    build: async () => () => ['php', beside('client.php')],
  },
  {
    name: 'zeep',
    title: 'Python zeep',
    isInstalled: python !== undefined,
    isRequired: true,
    ways: [
      { version: '1.1', way: 'wsdl', namespace: 0 },
      { version: '1.2', way: 'wsdl', namespace: 0 },
    ],
    build: async () => () => [python ?? 'python3', beside('client.py')],
  },
  {
    name: 'perl',
    title: 'Perl SOAP::Lite',
    isInstalled: succeeds('perl', '-MSOAP::Lite', '-e', '1'),
    isRequired: false,
    ways: [
      { version: '1.1', way: 'slash', namespace: 0 },
      { version: '1.2', way: 'slash', namespace: 0 },
      { version: '1.1', way: 'hash', namespace: 1 },
    ],
    build: async () => () => ['perl', beside('client.pl')],
  },
  {
    name: 'mono',
    title: "a proxy of mono's wsdl",
    isInstalled: ['mono', 'mcs', 'wsdl'].every(isOnPath),
    isRequired: false,
    ways: [
      { version: '1.1', way: 'SOAP', namespace: 0 },
      { version: '1.2', way: 'SOAP12', namespace: 0 },
    ],
    build: async (folder, wsdls) => {
      const protocols = ['SOAP', 'SOAP12']
      for (const protocol of protocols) await buildProxy(folder, protocol, wsdls)
      return ({ way }) => ['mono', join(folder, `${way}.exe`)]
    },
  },
]

/** A .NET program has a proxy for one version. `wsdl` writes it into the namespace that it is told, absent: none. */
async function buildProxy(folder: string, protocol: string, { wsdl, newerWsdl }: Wsdls): Promise<void> {
  const proxy = join(folder, `${protocol}.cs`)
  const newer = join(folder, `${protocol}-newer.cs`)
  await succeed(['wsdl', `-protocol:${protocol}`, `-out:${proxy}`, wsdl])
  await succeed(['wsdl', `-protocol:${protocol}`, '-namespace:Newer', `-out:${newer}`, newerWsdl])
  const references = ['-r:System.Web.Services', '-r:System.Web.Extensions']
  const program = join(folder, `${protocol}.exe`)
  await succeed(['mcs', '-warnaserror+', ...references, `-out:${program}`, beside('Client.cs'), proxy, newer])
}

async function succeed(command: Command): Promise<void> {
  const { code, output } = await run(command)
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`)
}

const RUN_MS_MAX = 60_000

/** Runs a program to its end, or until it has taken too long. Code null: it was ended. */
export async function run([program, ...args]: Command): Promise<{ code: number | null; output: string }> {
  const started = runProgram(program, args, { timeout: RUN_MS_MAX })
  const code = await started.exited
  return { code, output: started.output() }
}

function succeeds(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
}

function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
