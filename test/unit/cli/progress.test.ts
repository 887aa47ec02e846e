import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createProgress } from '../../../src/cli/progress.ts'

/** A stream that keeps what is written, and a clock that the test moves. */
function openScreen(options: { isTTY?: boolean; columns?: number } = {}) {
  const clock = { ms: 0 }
  let text = ''
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  return { clock, nowMs: () => clock.ms, stream: Object.assign(stream, options), text: () => text }
}

describe('on a terminal', () => {
  test('one line is redrawn, with share, rate and remaining time', () => {
    const { clock, text, ...options } = openScreen({ isTTY: true, columns: 120 })
    const progress = createProgress({ label: 'Loading', total: 4_000, ...options })
    clock.ms = 2_000
    progress.advance(1_000)
    expect(text()).toBe('\rLoading  ██████░░░░░░░░░░░░░░░░░░  25%  1,000 of 4,000  500/s  0:06 left\u001b[K')
    clock.ms = 5_000
    progress.advance(3_000)
    progress.done()
    expect(text().endsWith(`\rLoading  ${'█'.repeat(24)} 100%  4,000 of 4,000  800/s  in 0:05\u001b[K\n`)).toBe(true)
  })

  test('the remaining time follows the last seconds', () => {
    const { clock, text, ...options } = openScreen({ isTTY: true, columns: 120 })
    const progress = createProgress({ label: 'Loading', total: 20_000, ...options })
    for (let second = 1; second <= 60; second++) {
      clock.ms = second * 1_000
      progress.advance(second <= 10 ? 1_000 : 100)
    }
    expect(text().endsWith('15,000 of 20,000  100/s  0:50 left\u001b[K')).toBe(true)
  })

  test('is never wider than the terminal', () => {
    const { clock, text, ...options } = openScreen({ isTTY: true, columns: 20 })
    const progress = createProgress({ label: 'Loading', total: 10, ...options })
    clock.ms = 200
    progress.advance(1)
    expect(text()).toBe('\rLoading  ██░░░░░░░░\u001b[K')
  })

  test('what is said stands above the bar', () => {
    const { clock, text, ...options } = openScreen({ isTTY: true })
    const progress = createProgress({ label: 'L', total: 10, ...options })
    clock.ms = 1_000
    progress.say('Line 3: refused')
    expect(text().startsWith(`\rLine 3: refused\u001b[K\n\rL  ${'░'.repeat(24)}   0%`)).toBe(true)
  })
})

describe('elsewhere', () => {
  test('a plain line comes at most every five seconds, and one at the end', () => {
    const { clock, text, ...options } = openScreen()
    const progress = createProgress({ label: 'Loading', total: 100, ...options })
    for (let second = 1; second <= 12; second++) {
      clock.ms = second * 1_000
      progress.advance(5)
    }
    progress.say('Line 3: refused')
    progress.done()
    expect(text().split('\n')).toEqual([
      'Loading  ██████░░░░░░░░░░░░░░░░░░  25%  25 of 100  5/s  0:15 left',
      'Loading  ████████████░░░░░░░░░░░░  50%  50 of 100  5/s  0:10 left',
      'Line 3: refused',
      'Loading  ██████████████░░░░░░░░░░  60%  60 of 100  5/s  0:08 left',
      '',
    ])
  })

  test('without a total there is no share and no remaining time', () => {
    const { clock, text, ...options } = openScreen()
    const progress = createProgress({ label: 'Reading', ...options })
    clock.ms = 3_725_000
    progress.advance(1_234_567)
    expect(text()).toBe('Reading  1,234,567  331/s  1:02:05\n')
  })

  test('after its end it only says what it is told', () => {
    const { clock, text, ...options } = openScreen()
    const progress = createProgress({ label: 'Copied', total: 5, ...options })
    progress.end()
    clock.ms = 60_000
    progress.advance(7)
    progress.say('Products 7: refused')
    expect(text()).toBe('Products 7: refused\n')
  })

  test('a total of nothing is done at once', () => {
    const { text, ...options } = openScreen()
    createProgress({ label: 'Loading', total: 0, ...options }).done()
    expect(text()).toMatch(/100% {2}0 of 0/)
  })
})
