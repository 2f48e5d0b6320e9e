import '@mantine/notifications/styles.css'
import { Notifications as Shown } from '@mantine/notifications'

/** Shows notifications, also those of before it was loaded. */
export default function Notifications() {
  return <Shown position="bottom-right" autoClose={6000} transitionDuration={150} />
}
