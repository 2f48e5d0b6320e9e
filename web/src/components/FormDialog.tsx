import { Alert, Button, Group, type ModalProps, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { forget, hasEntries } from '../lib/formState'
import { notifySuccess } from '../lib/notify'
import { Modal } from './Modal'

/**
 * A dialog with a form, whose fields are kept by useFormState with the same name. However it is closed, nothing is lost: it
 * says so, and continues where it was left.
 */
export function FormDialog({
  form,
  onClose,
  children,
  ...props
}: Omit<ModalProps, 'closeButtonProps'> & { form: string }) {
  const { t } = useTranslation()
  const [isRestored, setRestored] = useState(() => hasEntries(form))
  const [wasOpened, setWasOpened] = useState(props.opened)
  if (wasOpened !== props.opened) {
    setWasOpened(props.opened)
    setRestored(hasEntries(form))
  }
  const leave = () => {
    if (hasEntries(form)) notifySuccess(t('form.kept'))
    onClose()
  }
  return (
    <Modal {...props} onClose={leave} closeButtonProps={{ 'aria-label': t('close') }}>
      {isRestored && hasEntries(form) && (
        <Alert color="blue" p="xs" mb="sm" role="status" data-restored>
          <Group justify="space-between" gap="xs">
            <Text size="sm">{t('form.restored')}</Text>
            <Button size="compact-sm" variant="default" onClick={() => forget(form)}>
              {t('form.discard')}
            </Button>
          </Group>
        </Alert>
      )}
      {children}
    </Modal>
  )
}
