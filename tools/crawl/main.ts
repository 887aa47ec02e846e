import { openClient } from './browser.ts'
import { compare } from './compare.ts'
import { crawlForms } from './forms.ts'
import { crawlPages, walk } from './pages.ts'
import { Report } from './report.ts'
import { crawlRest, crawlRoutes } from './rest.ts'
import { setScene } from './scene.ts'
import { type Message, openReceiver, startServer } from './server.ts'
import { crawlSoap } from './soap.ts'

const USAGE = `node tools/crawl/main.ts TREE FOLDER               writes what the server of the source tree TREE answers
node tools/crawl/main.ts --compare FOLDER FOLDER   says what differs between two of these folders`

const MINUTES_MAX = 12

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
  const late = setTimeout(() => process.kill(process.pid, 'SIGTERM'), MINUTES_MAX * 60_000)
  try {
    const scene = await setScene(server, client, receiver)
    const walks = await crawlPages(scene, report)
    await crawlRoutes(scene, report)
    // Before what gives the store another key.
    console.log(`cartAPI: ${await crawlSoap(scene, report)} calls`)
    console.log(`REST: ${await crawlRest(scene, report, receiver.url)} requests`)
    console.log(`forms: ${await crawlForms(scene, report, walks, [0, 1])} sent`)
    await scene.settled()
    const again = await walk(scene, report, 'owner', 'en', 'pages/owner-en-again.txt')
    console.log(`owner again: ${again.pages.length} pages`)
    console.log(`forms that end sessions: ${await crawlForms(scene, report, walks, [2])} sent`)
    await scene.settled()
    for (const { path, headers, text } of receiver.messages.toSorted(byContent)) {
      report.note('messages.txt', `=== ${path}\n${headers}\n${report.masked(text)}`)
    }
    await report.write(folder)
  } finally {
    clearTimeout(late)
    await client.close()
    await server.stop()
    receiver.close()
  }
}

function byContent(one: Message, other: Message): number {
  const [left, right] = [one, other].map(({ path, text }) => `${path} ${text}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}
