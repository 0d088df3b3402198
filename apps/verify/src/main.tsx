import { createRoot } from "react-dom/client";
import "./styles.css";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<main className="p-6">Loading…</main>);
