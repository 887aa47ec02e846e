import { createServer, type Socket } from 'node:net'
import { closeTogether, connectToDatabase, throughPort } from './gate.ts'

/** A way to the database that can be cut when a COMMIT was done and before it is told. */
export async function openLine(databaseUrl: string) {
  const sockets = new Set<Socket>()
  let isArmed = false
  const gate = createServer((near) => {
    const far = connectToDatabase(databaseUrl)
    closeTogether(near, far, sockets)
    near.on('data', (sent: Buffer) => far.write(sent))
    far.on('data', (answered: Buffer) => {
      if (!isArmed || !answered.includes('COMMIT\0')) return void near.write(answered)
      isArmed = false
      near.destroy()
    })
  })
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const { port } = gate.address() as { port: number }
  return {
    url: throughPort(databaseUrl, port),
    cutAfterCommit: () => {
      isArmed = true
    },
    close: () => {
      gate.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
