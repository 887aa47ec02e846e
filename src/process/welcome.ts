import { keysPath, type SandboxFile, sandboxPath } from './data-folder.ts'
import type { Config } from './settings.ts'

/** Says where the ready server is; for the sandbox, everything to try it with; without a store, how to make one. */
export function welcome(config: Config, sandbox: SandboxFile | null, hasStore: boolean): string {
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
  if (sandbox) return `\n${table}\n\nTry it:\n  ${curl(config, sandbox)}\n`
  return `\n${table}\n${hasStore ? '' : `\n${firstStore(config)}\n`}`
}

/** The key itself is not shown: where this is printed, it is a production's. */
function firstStore({ publicUrl, operatorKey, dataDir }: Config): string {
  const input = { Name: 'My shop', SecureURL: 'https://www.shop.example', Email: 'owner@shop.example', Password: '…' }
  const path = `'${keysPath(dataDir).replaceAll("'", String.raw`'\''`)}'`
  return [
    'There is no store yet. Put its own name, addresses and password into this command, which makes the first one',
    operatorKey === null ? '(the first line reads the operator key):' : '(OPERATOR_KEY: as the server has it):',
    ...(operatorKey === null ? [`  OPERATOR_KEY=$(node -p 'require(process.argv[1]).operatorKey' ${path})`] : []),
    `  curl -H "Authorization: Bearer $OPERATOR_KEY" -H 'Content-Type: application/json' -d '${JSON.stringify(input)}' '${publicUrl}/admin/stores'`,
  ].join('\n')
}

function curl({ publicUrl, restPrefixes }: Config, { store, application }: SandboxFile): string {
  const headers = { SecureURL: store.secureUrl, PrivateKey: application.privateKey, Token: application.token }
  const options = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  return `curl ${options.join(' ')} '${publicUrl}${restPrefixes[0]}/v1/Products?limit=3'`
}
