import { request } from 'undici'
import type { Target } from './situations.ts'

const AT_ONCE = 32

/** Sign-ins from many networks, half of them with the right password, as many at once as come through. */
export async function floodSignIns({ origin, account }: Target, signal: AbortSignal): Promise<void> {
  let turn = 0
  const flood = async () => {
    while (!signal.aborted) {
      turn += 1
      const body = JSON.stringify(
        turn % 2 === 0 ? account : { Email: `nobody-${turn}@shop.example`, Password: 'a wrong password' },
      )
      const network = `10.${turn % 250}.${Math.floor(turn / 250) % 250}.1`
      await request(`${origin}/admin/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': network },
        body,
        signal,
        headersTimeout: 60_000,
      })
        .then((answer) => answer.body.dump())
        .catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, flood))
}
