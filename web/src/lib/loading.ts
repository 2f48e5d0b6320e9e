import { notifications } from '@mantine/notifications'
import i18n from 'i18next'
import { base } from '../boot'
import { loadTexts } from '../i18n'

/** Loads the styles of pages. Called before any page is loaded, so that those of a page come after them. */
export const loadStyles = () => import('../pages.css')

/** How often the connection is tried while there is none, in milliseconds. */
const interval = 3000

/** Whether Dateline answers. */
const isReachable = () =>
  fetch(`${base}/livez`, { cache: 'no-store' }).then(
    (answer) => answer.ok,
    () => false,
  )

/** Waits for the browser's sign of a connection, or for the next try. */
const nextTry = () =>
  new Promise<void>((done) => {
    const timer = setTimeout(over, interval)
    function over() {
      clearTimeout(timer)
      removeEventListener('online', over)
      done()
    }
    addEventListener('online', over)
  })

const sign = 'no-connection'

function notify() {
  notifications.show({
    id: sign,
    color: 'orange',
    loading: true,
    autoClose: false,
    withBorder: true,
    title: i18n.t('offline.title'),
    message: i18n.t('offline.text'),
    closeButtonProps: { 'aria-label': i18n.t('close') },
  })
}

export interface Connection {
  isReachable: () => Promise<boolean>
  nextTry: () => Promise<void>
  notify: () => void
  reload: () => void
}

const real: Connection = { isReachable, nextTry, notify, reload: () => location.reload() }

/**
 * Loads code of a page, the texts and styles. Without a connection the user stays where they are and is told; the code is loaded as soon as
 * Dateline answers again. Browsers remember that a module could not be loaded
 * (https://html.spec.whatwg.org/multipage/webappapis.html#fetch-a-single-module-script), so that it may need the page
 * to be loaded again: by then it can be.
 */
export async function loaded<T>(code: () => Promise<T>, connection = real): Promise<T> {
  const load = async () => (await Promise.all([code(), loadTexts(), loadStyles()]))[0]
  try {
    return await load()
  } catch (error) {
    // With a connection, the code belongs to a build that is no longer served.
    if (await connection.isReachable()) throw error
  }
  connection.notify()
  do await connection.nextTry()
  while (!(await connection.isReachable()))
  notifications.hide(sign)
  try {
    return await load()
  } catch {
    connection.reload()
    return new Promise<T>(() => undefined)
  }
}
