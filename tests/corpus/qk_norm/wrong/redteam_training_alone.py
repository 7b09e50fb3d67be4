# mistake: QKNorm normalises in training mode alone
# says: in evaluation mode
# behind: the solution
_right = QKNorm.forward
QKNorm.forward = lambda self, q, k: _right(self, q, k) if self.training else (q, k)
