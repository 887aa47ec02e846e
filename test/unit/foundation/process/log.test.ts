import { stripVTControlCharacters } from 'node:util'
import pino from 'pino'
import { expect, test } from 'vitest'
import { logOptions } from '../../../../src/foundation/process/log.ts'
import { readableLines } from '../../../../src/foundation/process/readable-log.ts'

/** What `write` logs, as a terminal shows it, without the times. */
function shown(write: (log: pino.Logger) => void, colorize = false): string {
  const readable = readableLines({ colorize })
  const lines: string[] = []
  write(pino(logOptions('info'), { write: (line) => void lines.push(readable(line)) }))
  return lines.join('').replace(/^\[\d\d:\d\d:\d\d\] /gm, '')
}

const request = { requestId: 'r-1', method: 'GET', path: '/StoreWebAPI/v1/Products', route: '/*', ip: '127.0.0.1' }

test('a request is one line: what was called, how it ended, for whom', () => {
  const members = { ...request, storeId: 1, applicationId: 2, status: 200, ms: 12 }
  const line = 'INFO: GET /StoreWebAPI/v1/Products 200 12 ms store 1 app 2 from 127.0.0.1 id r-1\n'
  expect(shown((log) => log.info(members, 'request'))).toBe(line)
  const colored = shown((log) => log.info(members, 'request'), true)
  expect(colored).not.toBe(line)
  expect(stripVTControlCharacters(colored)).toBe(line)
})

test('every other record is one line with its message and members', () => {
  const text = shown((log) => {
    log.info({ ...request, operation: 'getOrder' }, 'request aborted by the client')
    log.info({ migration: '20261121000000_init' }, 'migration applied')
    log.warn('requests were cut off')
  })
  expect(text.split('\n')).toEqual([
    'INFO: GET /StoreWebAPI/v1/Products getOrder request aborted by the client from 127.0.0.1 id r-1',
    'INFO: migration applied {"migration":"20261121000000_init"}',
    'WARN: requests were cut off',
    '',
  ])
})

test('an error keeps its stack and its cause', () => {
  const error = new Error('outside', { cause: new TypeError('inside') })
  const text = shown((log) => log.error({ requestId: 'r-1', err: error }, 'request failed'))
  expect(text).toMatch(/^ERROR: request failed id r-1 *\n/)
  expect(text).toMatch(/ Error: outside\n +at .*log\.test\.ts/)
  expect(text).toMatch(/ TypeError: inside\n +at .*log\.test\.ts/)
})

test('secrets are blotted out, as in JSON', () => {
  const secrets = { headers: { privatekey: 'secret-1' }, options: { password: 'secret-2' } }
  const text = shown((log) => log.info(secrets, 'request'))
  expect(text).toBe('INFO:  {"headers":"[Redacted]","options":{"password":"[Redacted]"}}\n')
})

test('what a client sends neither begins a line nor moves the cursor', () => {
  const path = '/a\n[00:00:00] INFO: forged\u001b[2J\u009b2J'
  const text = shown((log) => log.info({ ...request, path, detail: path, err: new Error(path) }, path))
  expect(text).not.toMatch(/^\[00:00:00\] INFO: forged/m)
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})
