import { type SandboxFile, sandboxPath } from './data-folder.ts'
import type { Config } from './settings.ts'

/**
 * Says where the ready server is; for the sandbox, everything to try it with; without a store, how to make one. Keys are for a terminal
 * alone, because others read logs: a log gets the path of the file that has them.
 */
export function welcome(config: Config, sandbox: SandboxFile | null, hasStore: boolean, isTerminal: boolean): string {
  const lines: [string, string][] = [
    ['Base address', config.publicUrl],
    ['Store admin', `${config.publicUrl}/admin`],
    ['Developers', `${config.publicUrl}/developers`],
    ['Documentation', `${config.publicUrl}/docs`],
    ['cartAPI', `${config.publicUrl}${config.soapPath}?WSDL`],
  ]
  if (sandbox) lines.push(['Store', sandbox.store.secureUrl])
  if (sandbox && isTerminal) {
    lines.push(
      ['Merchant', `${sandbox.store.email}, password ${sandbox.store.password}`],
      ['Developer', `${sandbox.developer.email}, password ${sandbox.developer.password}`],
      ['Private key', sandbox.application.privateKey],
      ['Token', sandbox.application.token],
      ['Public key', sandbox.application.publicKey],
      ['User key', `${sandbox.store.userKey}, for cartAPI`],
      ['Operator key', sandbox.operatorKey],
    )
  }
  if (sandbox) lines.push(['All keys', sandboxPath(config.dataDir)])
  const restUrl = `${config.publicUrl}${config.restPrefixes[0]}`
  if (sandbox && isTerminal) {
    const tries = `Open ${config.publicUrl} and sign in as the merchant or the developer. All records are made up.\n\nTry it:`
    return `\n${table(lines)}\n\n${tries}\n  ${curlLine(restUrl, { ...sandbox.store, ...sandbox.application })}\n`
  }
  return `\n${table(lines)}\n${hasStore ? '' : `\n${firstStore}\n`}`
}

const firstStore = `There is no store yet. This command, with the settings of this server, opens the first one:
  npm run new-store     (in a container: docker compose exec server node src/cli/new-store.ts)`

/** Lines of names and values. */
export function table(lines: readonly (readonly [name: string, value: string])[]): string {
  return lines.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n')
}

/** A line for a shell that reads SKU, price and stock of three products. `restUrl`: without a slash at its end. */
export function curlLine(
  restUrl: string,
  { secureUrl, privateKey, token }: { secureUrl: string; privateKey: string; token: string },
): string {
  const headers = { SecureURL: secureUrl, PrivateKey: privateKey, Token: token }
  const options = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  return `curl ${options.join(' ')} '${restUrl}/v1/Products/skuinfo?limit=3'`
}

/** A line of progress for people, on standard output. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
