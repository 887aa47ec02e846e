import { expect, test } from 'vitest'
import type { Method } from '../../../src/engine/caller.ts'
import type { Entries, Place } from './places.ts'
import type { Scene } from './scene.ts'

/** A change that the place takes, ready to be sent to `home`. */
interface Change {
  readonly method: Extract<Method, 'POST' | 'PUT' | 'DELETE'>
  /** As the contract writes it. */
  readonly address: string
  /** A collection has no entity tag. */
  readonly isOfOne: boolean
  readonly prepare: (scene: Scene) => Promise<{ path: string; body?: unknown }>
}

/** What every change of a place may be asked besides: to be made once, and only of what was read. */
export function terms(place: Place, scene: () => Scene): void {
  const { entries } = place
  if (entries === undefined) return
  for (const { method, address, isOfOne, prepare } of changesOf(place, entries)) {
    test(`${method} ${address} with an Idempotency-Key is done once and answered twice`, async () => {
      const { home } = scene()
      const { path, body } = await prepare(scene())
      const headers = { 'idempotency-key': `${method} ${path} once`.replaceAll(' ', '-') }
      const first = await home.call(method, path, { body, headers })
      expect(first.statusCode, first.body).toBeLessThan(300)
      expect(first.headers['idempotency-replayed']).toBeUndefined()

      const second = await home.call(method, path, { body, headers })

      expect([second.statusCode, second.body]).toEqual([first.statusCode, first.body])
      expect(second.headers['idempotency-replayed']).toBe('true')
    })

    test(`${method} ${address} → 412 for ${isOfOne ? 'another ETag' : 'an ETag'}, with nothing changed`, async () => {
      const { home } = scene()
      const { path, body } = await prepare(scene())
      const read = () => home.call('GET', place.pathOf(scene().busy)).then((answer) => answer.body)
      const before = await read()

      const answer = await home.call(method, path, { body, headers: { 'if-match': '"another"' } })

      expect(answer.statusCode, answer.body).toBe(412)
      expect(await read()).toBe(before)
    })
  }
}

function changesOf(place: Place, entries: Entries): Change[] {
  const { address, pathOf, methods } = place
  const one = `${address}/{${entries.param}}`
  const pathTo = async (scene: Scene) => {
    const [id] = await entries.two(scene)
    return `${pathOf(scene.busy)}/${encodeURIComponent(id)}`
  }
  const all: Change[] = [
    {
      method: 'POST',
      address,
      isOfOne: false,
      prepare: async (scene) => ({ path: pathOf(scene.busy), body: entries.fresh(scene) }),
    },
    {
      method: 'PUT',
      address: one,
      isOfOne: true,
      prepare: async (scene) => ({ path: await pathTo(scene), body: entries.changes(scene) }),
    },
    { method: 'DELETE', address: one, isOfOne: true, prepare: async (scene) => ({ path: await pathTo(scene) }) },
  ]
  return all.filter(({ method, isOfOne }) => (isOfOne ? entries.methods : methods).includes(method))
}
