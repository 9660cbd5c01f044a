// One quota of many to filter by. Its five hundred options are drawn when somebody reaches for them.
import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { quotasQuery } from "../api/shared";

export function QuotaChoice({ value, onChange }: { value: string; onChange: (quota: string) => void }) {
  const [reached, setReached] = useState(false);
  const quotas = useQuery({ ...quotasQuery, enabled: reached }).data;
  const ids = reached && quotas !== undefined ? quotas.map((one) => one.id) : value === "" ? [] : [value];
  return (
    <NativeSelect
      aria-label="Quota"
      value={value}
      data={[{ value: "", label: "any quota" }, ...ids]}
      onPointerEnter={() => setReached(true)}
      onFocus={() => setReached(true)}
      onChange={(e) => onChange(e.currentTarget.value)}
    />
  );
}
