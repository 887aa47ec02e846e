import type { Config } from './config.ts'
import { type SandboxFile, sandboxPath } from './sandbox/file.ts'

/** What a person is told when the server is ready: where it is and, for the sandbox, everything to try it with. */
export function welcome(config: Config, sandbox: SandboxFile | null): string {
  const lines = [
    ['Base address', config.publicUrl],
    ['Store admin', `${config.publicUrl}/admin`],
    ['Developers', `${config.publicUrl}/developers`],
    ['cartAPI', `${config.publicUrl}${config.soapPath}?WSDL`],
  ]
  if (sandbox) {
    lines.push(
      ['Store', sandbox.store.secureUrl],
      ['Merchant', `${sandbox.store.email}, password ${sandbox.store.password}`],
      ['Developer', `${sandbox.developer.email}, password ${sandbox.developer.password}`],
      ['Private key', sandbox.application.privateKey],
      ['Token', sandbox.application.token],
      ['Public key', sandbox.application.publicKey],
      ['User key', `${sandbox.store.userKey}, for cartAPI`],
      ['Operator key', sandbox.operatorKey],
      ['All of them', sandboxPath(config.dataDir)],
    )
  }
  const table = lines.map(([name = '', value = '']) => `  ${name.padEnd(14)}${value}`).join('\n')
  return `\n${table}\n${sandbox ? `\nTry it:\n  ${curl(config, sandbox)}\n` : ''}`
}

function curl({ publicUrl, restPrefixes }: Config, { store, application }: SandboxFile): string {
  const headers = { SecureURL: store.secureUrl, PrivateKey: application.privateKey, Token: application.token }
  const options = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  return `curl ${options.join(' ')} '${publicUrl}${restPrefixes[0]}/v1/Products?limit=3'`
}
