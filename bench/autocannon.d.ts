/** The used part of autocannon 9, which has no types. Based on its README and lib/run.js. */
declare module 'autocannon' {
  namespace autocannon {
    interface Request {
      headers?: Readonly<Record<string, string>>;
      setupRequest?: (request: Request) => Request;
    }
    interface Options {
      url: string;
      method: string;
      headers: Readonly<Record<string, string>>;
      body: string;
      connections: number;
      /** Seconds. */
      duration: number;
      requests?: Request[];
    }
    interface Result {
      /** Failed connections and requests without a response in time. */
      errors: number;
      /** Measured, in seconds. */
      duration: number;
      statusCodeStats: Record<string, { count: number }>;
      /** Milliseconds. */
      latency: { p50: number; p99: number };
    }
  }
  function autocannon(options: autocannon.Options): Promise<autocannon.Result>;
  export default autocannon;
}
