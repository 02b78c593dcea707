// Copies text and says on the button whether that worked.

const SHOWN_FOR = 1600;

export async function copyFrom(button: HTMLButtonElement, text: string): Promise<void> {
  const before = button.textContent ?? "";
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = "Not allowed here";
  }
  button.textContent = said;
  button.disabled = true;
  setTimeout(() => {
    button.textContent = before;
    button.disabled = false;
  }, SHOWN_FOR);
}
