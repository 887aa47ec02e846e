import { expect, test } from 'vitest'
import { misspeltSettings } from '../../../../src/foundation/process/misspelt-settings.ts'
import { settingNames } from '../../../../src/foundation/process/settings.ts'

test.each([
  ['PORTT', 'PORT'],
  ['PROT', 'PORT'],
  ['port', 'PORT'],
  ['PUBLICURL', 'PUBLIC_URL'],
  ['Public-Url', 'PUBLIC_URL'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_ULR', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['OUTBOUND_ALOW', 'OUTBOUND_ALLOW'],
  ['REST_PREFIX', 'REST_PREFIXES'],
  ['SECRETKEY', 'SECRET_KEY'],
  ['LOGLEVEL', 'LOG_LEVEL'],
])('%s is taken for a misspelt %s', (name, meant) => {
  const warning = `${name} is not a setting and is ignored. Did you mean ${meant}?`
  expect(misspeltSettings({ [name]: 'x' })).toEqual([warning])
})

test.each(settingNames)('every name that differs from %s by one letter is told, save by the first', (setting) => {
  const wrong = setting.replace(/.$/, '')
  expect(misspeltSettings({ [wrong]: 'x' })).toEqual([expect.stringContaining(`Did you mean ${setting}?`)])
})

test('variables that systems, shells and other programs use are no misspelt settings', () => {
  const names = `HOSTNAME HOSTTYPE HOME PATH PWD OLDPWD SHELL SHLVL USER LOGNAME TERM LANG LC_ALL TZ TMPDIR MAIL PAGER EDITOR
    SSL_CERT_FILE SSL_CERT_DIR SSL_KEY_FILE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy HTTP_HOST ALL_PROXY PGHOST PGPORT
    PGDATABASE PGUSER POSTGRES_PASSWORD POSTGRES_DB DATABASE_USER DATABASE_PORT DATABASE_HOST DB_URL NODE_ENV NODE_OPTIONS
    NODE_EXTRA_CA_CERTS NO_COLOR FORCE_COLOR COLORTERM XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR SSH_AUTH_SOCK
    SSH_CONNECTION DBUS_SESSION_BUS_ADDRESS LOG_FILE LOG_DIR LOGS_DIRECTORY TIME_STYLE INVOCATION_ID JOURNAL_STREAM
    SYSTEMD_EXEC_PID KUBERNETES_SERVICE_HOST KUBERNETES_PORT DOCKER_HOST PUBLIC_IP SECRET_ID AWS_SECRET_ACCESS_KEY PYTHONPATH
    npm_config_cache npm_lifecycle_event npm_package_name INIT_CWD`
  expect(misspeltSettings(Object.fromEntries(names.split(/\s+/).map((name) => [name, 'x'])))).toEqual([])
})

test('nothing is told of an empty variable, nor where the setting itself is given', () => {
  expect(misspeltSettings({ PORTT: ' ' })).toEqual([])
  expect(misspeltSettings({ PORTS: '80-90', PORT: '80' })).toEqual([])
  expect(misspeltSettings({ PORTS: '80-90', PORT: '' })).toHaveLength(1)
})
