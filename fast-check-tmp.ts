import { DateTime, IANAZone } from 'luxon'
const DAY_MS = 86_400_000
const offsets = new Map<string, number>()
function offsetOn(timeZone: string, day: number): number {
  const key = `${timeZone} ${day}`
  let offset = offsets.get(key)
  if (offset === undefined) {
    if (offsets.size >= 20_000) offsets.clear()
    offset = IANAZone.create(timeZone).offset(day * DAY_MS)
    offsets.set(key, offset)
  }
  return offset
}
export function plainInstant(localMs: number, timeZone: string): Date | null {
  const day = Math.floor(localMs / DAY_MS)
  const offset = offsetOn(timeZone, day - 1)
  return offset === offsetOn(timeZone, day + 2) ? new Date(localMs - offset * 60_000) : null
}
// check against luxon
let bad = 0, none = 0
for (const tz of ['America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia', 'Asia/Kathmandu']) {
  for (let i = 0; i < 20000; i++) {
    const ms = Date.UTC(1900 + Math.floor(Math.random() * 150), 0, 1) + Math.floor(Math.random() * 365 * 86400) * 1000
    const p = plainInstant(ms, tz)
    if (!p) { none++; continue }
    const u = new Date(ms)
    const l = DateTime.fromObject({ year: u.getUTCFullYear(), month: u.getUTCMonth() + 1, day: u.getUTCDate(), hour: u.getUTCHours(), minute: u.getUTCMinutes(), second: u.getUTCSeconds() }, { zone: tz })
    const c = l.getPossibleOffsets()
    if (c.length !== 1 || +c[0].toJSDate() !== +p) { bad++; if (bad < 5) console.log(tz, u.toISOString(), p.toISOString(), l.toISO()) }
  }
}
console.log({ bad, none })
