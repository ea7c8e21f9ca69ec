/** Every environment variable that Torana reads. One table describes them, here and in the documentation. */
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'

/** In place of a token. */
export const ADMIN_TOKEN_OFF = 'off'

export interface Variable {
  readonly description: string
  readonly default?: string
  /** Secrets may be in a file that `<NAME>_FILE` names, and are never shown. */
  readonly secret?: true
}

export const environmentVariables = {
  PORT: { default: '8080', description: 'Port of the public API. `0`: any free port.' },
  HOST: { default: '127.0.0.1', description: 'Address on which the public API listens.' },
  CONTROL_PORT: {
    default: '8081',
    description: 'The control port: control API, health and metrics. `0`: any free port.',
  },
  CONTROL_HOST: { default: '127.0.0.1', description: 'Address on which the control port listens.' },
  TORANA_WORKERS: {
    description:
      'The number of worker processes behind one pair of ports, or `auto` for one per core. It needs a `DATABASE_URL` of PostgreSQL. Unset: one process does everything. The same as `torana start --workers`.',
  },
  TORANA_ROLE: {
    default: 'all',
    description:
      '`gateway`, `control`, `worker` or `all`: which ports and which background jobs this process has. Other values than `all` need a `DATABASE_URL` of PostgreSQL. The same as `torana start --role`.',
  },
  TORANA_TLS_CERT: {
    description:
      'A file in PEM form with the certificate of both ports, and the certificates between it and its authority. Unset: both ports speak plain HTTP.',
  },
  TORANA_TLS_KEY: { description: 'The file with the private key of `TORANA_TLS_CERT`.' },
  TORANA_TLS_CLIENT_CA: {
    description:
      'A file with the certificates of authorities. Both ports then accept only clients with a certificate of one of them. Health checks need one too.',
  },
  TORANA_DATA_DIR: {
    default: './.torana',
    description:
      'The data folder of the node: secret, demo key, admin token, packed keys, journal and spool, and the database if `DATABASE_URL` is unset. It must be writable.',
  },
  TORANA_CONFIG: {
    description: 'The configuration file. Default: `torana.yaml` in the working directory, if it exists.',
  },
  LOG_LEVEL: {
    default: 'info',
    description:
      '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. `info` has failed requests; `debug` has all of them, one line each.',
  },
  LOG_FORMAT: {
    default: 'auto',
    description: '`json`, `text` for people, or `auto`: text on a terminal, JSON elsewhere.',
  },
  TORANA_SERVER_TIMING: {
    default: 'true',
    description:
      '`true`: answers have the header `server-timing`, with the time in Torana, in the queue and at upstreams. `false`: they do not.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description:
      'Base address of an OpenTelemetry receiver, such as `http://collector:4318`: Torana sends traces to `/v1/traces` below it, as protobuf over HTTP. Unset: no traces.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    description: 'The whole address for traces. Takes precedence over `OTEL_EXPORTER_OTLP_ENDPOINT`.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    secret: true,
    description: 'Headers for the receiver, such as `api-key=secret,tenant=7`; values are percent-encoded.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: { default: 'http/protobuf', description: '`http/protobuf` only.' },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    default: '10000',
    description: 'Milliseconds that the receiver has for each answer.',
  },
  OTEL_SERVICE_NAME: { default: 'torana', description: 'The name of the service in traces.' },
  OTEL_RESOURCE_ATTRIBUTES: {
    description: 'More about the service, such as `deployment.environment.name=production`.',
  },
  OTEL_TRACES_SAMPLER: {
    default: 'parentbased_always_on',
    description:
      'Which requests are traced: `always_on`, `always_off`, `traceidratio`, or the same after `parentbased_`: then a request that carries a trace is traced if its caller is.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    default: '1',
    description: 'The share of requests for `traceidratio`, from 0 to 1.',
  },
  OTEL_PROPAGATORS: {
    default: 'tracecontext',
    description:
      'What Torana sends to upstreams: `tracecontext` (`traceparent`, `tracestate`), `baggage`, both with a comma, or `none`. Baggage may name persons, and upstreams are other companies, so Torana passes it on only if you set it here.',
  },
  OTEL_SDK_DISABLED: {
    default: 'false',
    description: '`true`: no traces and no logs, whatever else is set.',
  },
  PUBLIC_URL: {
    description: 'The address that callers use for the public API, if it is not host and port.',
  },
  TRUSTED_PROXIES: {
    description:
      'Proxies in front of this node: addresses and networks, separated by commas, such as `10.0.0.0/8, loopback`. From them Torana takes the address of the client in `x-forwarded-for`. Unset: none, and the header is ignored.',
  },
  DATABASE_URL: {
    secret: true,
    description:
      '`postgres://…`: PostgreSQL 15 or newer, shared by all nodes. Unset: a PostgreSQL inside this process, in the data folder, for one process only.',
  },
  REDIS_URL: {
    secret: true,
    description:
      '`redis://…` or `rediss://…`: rate limits shared by all nodes, in Redis 7 or newer with `noeviction`. Unset: each node applies its share of a limit.',
  },
  CACHE_URL: {
    secret: true,
    description:
      '`redis://…` or `rediss://…`: the vector cache, shared by all nodes, for models with `cache`. Use a separate Redis, with `maxmemory` and `allkeys-lru`, never the one of `REDIS_URL`, which must not evict entries. Unset: each node keeps its own.',
  },
  ASSETS_URL: {
    description:
      'Where images are stored: a folder (`file:./pictures`), or an S3 bucket shared by all nodes (`s3://bucket/folder?region=eu-central-1`, with `&endpoint=https://…` for servers other than AWS). Default: `assets` in the data folder.',
  },
  AWS_ACCESS_KEY_ID: {
    secret: true,
    description:
      'For an `s3:` `ASSETS_URL`: the id of the access key. If neither this nor the next is set, Torana uses the role of the machine or the container, as the AWS SDK finds it.',
  },
  AWS_SECRET_ACCESS_KEY: { secret: true, description: 'For an `s3:` `ASSETS_URL`: the secret access key.' },
  TORANA_SECRET: {
    secret: true,
    description: `Protects stored keys, encrypts credentials and signs links; at least ${MIN_KEY_LENGTH} characters, the same on all nodes and at every start. Default: 32 random bytes in the data folder; required with a \`DATABASE_URL\`.`,
  },
  TORANA_SECRET_PREVIOUS: {
    secret: true,
    description:
      'The previous secret, while you rotate it. Keys and credentials of it stay valid, and move to the new one when they are used.',
  },
  TORANA_ADMIN_TOKEN: {
    secret: true,
    description: `The admin token of the control API, at least ${MIN_KEY_LENGTH} characters. Default: the one in \`admin.token\` of the data folder, which Torana creates at the first start. \`off\`: neither opens the control port; commands on this machine use the socket in the data folder, programs use tokens that an admin makes in the console.`,
  },
  TORANA_CELL: {
    description:
      'The cell that this node belongs to, in an install of several: one to eight digits and small letters, such as `eu1`. New keys name it (`tr_eu1_…`), so that a load balancer finds the cell of a key without a look-up. Unset: keys name none.',
  },
  TORANA_NAME: { description: 'What people call this install, such as `production`. The console shows it.' },
  CONSOLE_URL: {
    description:
      'The address at which people open the console, such as `https://torana.example.com`: links of invitations and the redirect of the sign-on lead there. Default: the address of the control port as the browser sends it.',
  },
  SMTP_URL: {
    secret: true,
    description:
      'The mail server for alerts, such as `smtps://user:password@mail.example.com`, or `smtp://mail.example.com:587`. Unset: Torana sends no mail.',
  },
  SMTP_FROM: { description: 'The sender of mail, such as `torana@example.com`. Required with `SMTP_URL`.' },
  TORANA_INSECURE_CONSOLE: {
    default: 'false',
    description:
      '`true`: people may sign in over plain http from other machines, and the console shows a warning. `false`: over plain http only this machine may.',
  },
  TORANA_BOOTSTRAP_KEY: {
    secret: true,
    description: `A key for all models, in the project \`default\`, from the first start on; at least ${MIN_KEY_LENGTH} characters, or a \`tr_\` key.`,
  },
  OPENAI_API_KEY: {
    secret: true,
    description:
      "The key of OpenAI, never a key of Torana. Without a configuration file, Torana adds OpenAI's models. With one, use it there as `${OPENAI_API_KEY}`.",
  },
  HTTPS_PROXY: {
    description:
      'Proxy for calls to `https:` upstreams. Also in lower case, like the next two. Images at addresses of others are fetched through tunnels to IP addresses, so a proxy that allows names only refuses them.',
  },
  HTTP_PROXY: { description: 'Proxy for calls to `http:` upstreams.' },
  NO_PROXY: { description: 'Hosts that are called without a proxy, separated by commas.' },
} as const satisfies Record<string, Variable>
