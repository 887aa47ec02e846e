import { openClient } from './browser.ts'
import { compare } from './compare.ts'
import { crawlPages } from './pages.ts'
import { Report } from './report.ts'
import { crawlRest, crawlRoutes } from './rest.ts'
import { setScene } from './scene.ts'
import { openReceiver, startServer } from './server.ts'

const USAGE = `node tools/crawl/main.ts TREE FOLDER               writes what the server of the source tree TREE answers
node tools/crawl/main.ts --compare FOLDER FOLDER   says what differs between two of these folders`

const [first, second, third] = process.argv.slice(2)
if (first === '--compare' && second !== undefined && third !== undefined)
  process.exitCode = await compare(second, third)
else if (first !== undefined && second !== undefined) await crawl(first, second)
else {
  console.error(USAGE)
  process.exitCode = 2
}

/** Ends what it started, whatever happens. */
async function crawl(tree: string, folder: string): Promise<void> {
  const receiver = await openReceiver()
  const server = await startServer(tree)
  const client = openClient(server.baseUrl)
  const { store, developer, application } = server.sandbox
  const secrets = [...Object.values(application), store.userKey, store.password, developer.password]
  const report = new Report([
    [server.baseUrl, '<server>'],
    [encodeURIComponent(server.baseUrl), '<server>'],
    [receiver.url, '<receiver>'],
    [new URL(server.baseUrl).host, '<host>'],
    [new URL(receiver.url).host, '<receiver host>'],
    ...secrets.map((secret): [string, string] => [secret, '<secret>']),
  ])
  try {
    const scene = await setScene(server, client, receiver)
    await crawlPages(scene, report)
    console.log(`REST: ${await crawlRest(scene, report, receiver.url)} requests`)
    await crawlRoutes(scene, report)
    await report.write(folder)
  } finally {
    await client.close()
    await server.stop()
    receiver.close()
  }
}
