import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'vitest'
import { openRaw, requestHead } from '../../support/raw-connection.ts'
import { fillLargePages, openMeasuredServer } from './server.ts'

const only = process.env.PROBE ?? 'idle,pages1,pages64,bodies,puts'
test('probe', async () => {
  const server = await openMeasuredServer(Number(process.env.SHOPS ?? 16))
  const { memory, port, shops } = server
  const say = (what: string) => console.log(what, 'highest', memory.highest(), 'now', memory.now())
  try {
    await fillLargePages(server.db)
    await delay(500)
    say('idle')
    const metrics = async () => {
      const text = await (await fetch(`${server.baseUrl}/metrics`)).text()
      console.log(
        text
          .split('\n')
          .filter((l) =>
            /^(nodejs_heap_size|nodejs_external|nodejs_heap_space_size_used_bytes\{space="(old|large_object|code)")/.test(
              l,
            ),
          )
          .join(' | '),
      )
    }
    await metrics()
    const get = async (i: number) => {
      const r = await fetch(`${server.baseUrl}/StoreWebAPI/v1/Products?limit=200`, {
        headers: { ...shops[i % shops.length]!.credentials, 'accept-encoding': 'identity' },
      })
      const b = await r.arrayBuffer()
      return `${r.status} ${b.byteLength}`
    }
    if (only.includes('pages1')) {
      for (let i = 0; i < 6; i++) {
        const t = performance.now()
        const r = await get(0)
        console.log(r, Math.round(performance.now() - t), 'ms')
        say('page')
      }
      await delay(1000)
      say('after pages1')
      await metrics()
    }
    if (only.includes('fast')) {
      const t = performance.now()
      const all = await Promise.all(Array.from({ length: 32 }, (_, i) => get(i)))
      console.log(count(all), performance.now() - t)
      say('fast 32')
      await delay(1000)
      await metrics()
      say('later')
    }
    if (only.includes('slow')) {
      const readers = await Promise.all(
        Array.from({ length: 64 }, (_, i) =>
          openRaw(
            port,
            requestHead('GET', '/StoreWebAPI/v1/Products?limit=200', shops[i % shops.length]!.credentials),
            { slow: true },
          ),
        ),
      )
      for (let i = 0; i < 20; i++) {
        await delay(500)
        if (i % 4 === 3) say('slow readers')
      }
      await metrics()
      for (const { socket } of readers) socket.destroy()
      await delay(1000)
      say('after slow')
    }
    if (only.includes('bodies')) {
      const chunk = 'x'.repeat(1024 * 1024)
      const senders = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          openRaw(
            port,
            requestHead('POST', '/StoreWebAPI/v1/Products', {
              ...shops[i % shops.length]!.credentials,
              'content-type': 'application/json',
              'content-length': 10 * 1024 * 1024,
            }),
          ),
        ),
      )
      for (const { socket } of senders) for (let i = 0; i < 9; i++) socket.write(chunk)
      for (let i = 0; i < 6; i++) {
        await delay(500)
        say('held bodies')
      }
      for (const { socket } of senders) socket.destroy()
      await delay(1000)
      say('after bodies')
    }
    if (only.includes('puts')) {
      const body = JSON.stringify(
        Array.from({ length: 100 }, (_, i) => ({
          SKUInfo: { CatalogID: i + 1 },
          ShortDescription: '€' + 'a'.repeat(60000),
          ExtraField1: 'b'.repeat(100),
        })),
      )
      console.log('body', body.length)
      const put = async (i: number) => {
        const r = await fetch(`${server.baseUrl}/StoreWebAPI/v1/Products`, {
          method: 'PUT',
          body,
          headers: { ...shops[i % shops.length]!.credentials, 'content-type': 'application/json' },
        })
        const t = await r.text()
        return `${r.status}${r.status > 201 ? t.slice(0, 100) : ''}`
      }
      for (let i = 0; i < 4; i++) {
        const t = performance.now()
        console.log(await put(0), performance.now() - t)
        say('put')
      }
      const t = performance.now()
      console.log(count(await Promise.all(Array.from({ length: 12 }, (_, i) => put(i)))), performance.now() - t)
      say('12 puts')
      await metrics()
    }
    console.log(server.output().split('\n').slice(-5).join('\n'))
  } finally {
    await server.close()
  }
}, 300_000)
function count(all: string[]) {
  const m: Record<string, number> = {}
  for (const a of all) m[a] = (m[a] ?? 0) + 1
  return m
}
