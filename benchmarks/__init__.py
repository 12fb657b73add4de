"""What is measured, one module each: ``python -m benchmarks.NAME [--quick]``; ``benchmarks.run`` runs most of them."""
