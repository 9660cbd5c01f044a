// The look of Mantine's parts: small, calm, in the system's own font.
import { createTheme, type MantineColorsTuple } from "@mantine/core";

const blue: MantineColorsTuple = [
  "#e8f0fa", "#d0e0f4", "#a8c6e8", "#7caada", "#74b0f4", "#5b9be6", "#1b4f8f", "#1b4f8f", "#2f6fb8", "#102e54",
];

const font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif";

export const theme = createTheme({
  primaryColor: "blue",
  primaryShade: { light: 6, dark: 8 },
  colors: { blue },
  autoContrast: true,
  fontFamily: font,
  headings: { fontFamily: font },
  defaultRadius: 6,
  cursorType: "pointer",
  components: {
    Button: { defaultProps: { size: "xs" } },
    TextInput: { defaultProps: { size: "xs", withAsterisk: false } },
    PasswordInput: { defaultProps: { size: "xs", withAsterisk: false } },
    NativeSelect: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    Checkbox: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "sm" } },
    Modal: { defaultProps: { size: "lg", centered: true } },
  },
});
