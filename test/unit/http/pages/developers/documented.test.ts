import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { sendCallback } from '../../../../../src/access/applications/subscriptions/callback.ts'
import type { OutboundRequest } from '../../../../../src/foundation/outbound/outbound.ts'
import { newSigningSecret } from '../../../../../src/foundation/outbound/standard-webhooks.ts'
import { createSecrets } from '../../../../../src/foundation/values/secrets.ts'

const run = promisify(execFile)
const guide = readFileSync(new URL('../../../../../docs/integration.md', import.meta.url), 'utf8')

/** The function of the guide, as a program that reads secret, headers and body from its argument and prints what was verified. */
const programs = {
  node: {
    ending: 'js',
    reader: 'readCallback',
    rest: `const { secret, headers, body } = JSON.parse(process.argv[1])
console.log(JSON.stringify(readCallback(secret, headers, body)))`,
    flags: ['--input-type=module', '--eval'],
    command: process.execPath,
  },
  python: {
    ending: 'python',
    reader: 'read_callback',
    rest: `import sys
given = json.loads(sys.argv[1])
print(json.dumps(read_callback(given["secret"], given["headers"], given["body"].encode())))`,
    flags: ['-c'],
    command: 'python3',
  },
} as const

const secrets = createSecrets('a secret key for tests alone, 32+')
const [current, former, another] = [newSigningSecret(), newSigningSecret(), newSigningSecret()]
const application = {
  publicKey: 'f'.repeat(32),
  callbackUrl: 'https://app.example/callback',
  callbackSecretSealed: secrets.seal(current),
  formerCallbackSecretSealed: secrets.seal(former),
  callbackSecretRotatedAt: new Date(),
}

const hasPython = await run('python3', ['-c', '']).then(
  () => true,
  () => false,
)

describe.each(['node', 'python'] as const)('verification as the guide writes it for %s', (language) => {
  test.skipIf(language === 'python' && !hasPython)(
    'takes a callback under the new secret and under the former one, and nothing forged, altered or old',
    async () => {
      const { headers, body } = await sent(new Date())
      const message = JSON.parse(body)
      expect(message).toMatchObject({ Action: 'AUTHORIZE', SecureURL: 'https://shop.example' })
      expect(await verified(language, { secret: current, headers, body })).toEqual(message)
      expect(await verified(language, { secret: former, headers, body })).toEqual(message)

      const old = await sent(new Date(Date.now() - 301_000))
      for (const refused of [
        { secret: another, headers, body },
        { secret: current, headers, body: body.replace('shop.example', 'shop.examples') },
        { secret: current, headers: { ...headers, 'webhook-id': 'msg_other' }, body },
        { secret: current, headers: { ...headers, 'webhook-signature': 'v1,AAAA' }, body },
        { secret: current, ...old },
      ]) {
        await expect(verified(language, refused)).rejects.toThrow()
      }
    },
  )
})

/** What an application gets, by the function that sends it. */
async function sent(at: Date): Promise<{ headers: Record<string, string>; body: string }> {
  const requests: OutboundRequest[] = []
  await sendCallback(
    {
      secrets,
      now: () => at,
      outbound: {
        send: async (request) => {
          requests.push(request)
          return { ok: false, reason: 'Nobody is there', durationMs: 0 }
        },
        addressFault: () => null,
        close: async () => undefined,
      },
    },
    { application, action: 'AUTHORIZE', token: 'a'.repeat(32), secureUrl: 'https://shop.example', messageId: 'msg_1' },
  )
  const [{ headers, body = '' }] = requests as [OutboundRequest]
  return { headers: { ...headers }, body: String(body) }
}

async function verified(language: keyof typeof programs, given: object): Promise<unknown> {
  const { ending, reader, rest, flags, command } = programs[language]
  const blocks = [...guide.matchAll(/```(\w+)\n([\s\S]*?)```/g)]
  const code = blocks.find(([, kind, text]) => kind === ending && text?.includes(reader))?.[2]
  if (code === undefined) throw new Error(`The guide has no example in ${language}`)
  const { stdout } = await run(command, [...flags, `${code}\n${rest}`, JSON.stringify(given)])
  return JSON.parse(stdout)
}
