import type { Schemas } from '../api/client'
import { base } from '../boot'

type Keys = NonNullable<Schemas['NotificationChannelSettings']['push_keys']>

/** Whether this browser can show notifications: pages need https, or have to be on this machine. */
export const canPush = 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

/** Asks for permission and subscribes this browser. It returns nothing if the user refuses. */
export async function subscribe(key: string): Promise<{ url: string; push_keys: Keys } | undefined> {
  if ((await Notification.requestPermission()) !== 'granted') return undefined
  const { pushManager } = await navigator.serviceWorker.register(`${base}/app/push.js`, { scope: `${base}/app/` })
  const options = { userVisibleOnly: true, applicationServerKey: key }
  const subscription = await pushManager.subscribe(options).catch(async () => {
    // The key of this installation has changed since.
    await (await pushManager.getSubscription())?.unsubscribe()
    return pushManager.subscribe(options)
  })
  const { endpoint, keys } = subscription.toJSON()
  if (!endpoint || !keys?.p256dh || !keys.auth) return undefined
  return { url: endpoint, push_keys: { p256dh: keys.p256dh, auth: keys.auth } }
}
