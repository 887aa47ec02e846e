declare module '@20minutes/s3rver' {
  /** An S3 server on a port of this machine, with the keys S3RVER and S3RVER. */
  export default class S3rver {
    constructor(options: {
      port: number
      silent: boolean
      directory: string
      configureBuckets: readonly { name: string; configs: readonly [] }[]
    })
    run(): Promise<{ port: number }>
    close(): Promise<void>
  }
}
