import { parentPort, workerData } from 'node:worker_threads'
import { readPorts } from './wsdl.ts'

// The thread of model.ts: one WSDL for each namespace.
parentPort?.postMessage(await Promise.all((workerData as string[]).map(readPorts)))
