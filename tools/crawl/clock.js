// Loaded into the server's process before its own code: its clock starts at the same moment in each crawl and runs slowly, so that
// every date of a page is the same, nothing grows old within a crawl, and what is tried again after a pause is not tried in it.
const SLOWER = 20
const { CRAWL_CLOCK_FROM, CRAWL_CLOCK_SINCE } = process.env
const RealDate = Date
const from = Number(CRAWL_CLOCK_FROM)
const since = Number(CRAWL_CLOCK_SINCE)
const now = () => from + Math.floor((RealDate.now() - since) / SLOWER)

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length > 0 ? given : [now()], made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
RealDate.prototype.constructor = globalThis.Date
