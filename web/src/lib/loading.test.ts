import { expect, test, vi } from 'vitest'
import { type Connection, loaded } from './loading'

vi.mock('@mantine/notifications', () => ({ notifications: { show: vi.fn(), hide: vi.fn() } }))
vi.mock('../boot', () => ({ base: '' }))

/** A connection that answers as given, one try after the other. */
function connection(...answers: boolean[]) {
  const fake = {
    isReachable: vi.fn(async () => answers.shift() ?? true),
    nextTry: vi.fn(async () => undefined),
    notify: vi.fn(),
    reload: vi.fn(),
  }
  return fake satisfies Connection
}
const failing = (times: number) => {
  let n = 0
  return vi.fn(async () => {
    if (n++ < times) throw new TypeError('Failed to fetch dynamically imported module')
    return 'page'
  })
}

test('code is loaded as soon as there is a connection again', async () => {
  const c = connection(false, false, false, true)
  expect(await loaded(failing(1), c)).toBe('page')
  expect(c.notify).toHaveBeenCalledTimes(1)
  expect(c.nextTry).toHaveBeenCalledTimes(3)
  expect(c.reload).not.toHaveBeenCalled()
})

test('code of an older build is an error, not a missing connection', async () => {
  const c = connection(true)
  await expect(loaded(failing(1), c)).rejects.toThrow('Failed to fetch')
  expect(c.notify).not.toHaveBeenCalled()
})

test('the page is loaded again if the browser remembers the failure', async () => {
  const c = connection(false, true)
  void loaded(failing(2), c)
  await vi.waitFor(() => expect(c.reload).toHaveBeenCalledTimes(1))
})
